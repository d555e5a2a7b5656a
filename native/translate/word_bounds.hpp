// Upper bounds of the probability of a word where only the end of its context is known, for searches that estimate what
// is still to come.
//
// A context t extends s if s is a suffix of t. Wherever t has an arc for a word, so has s. With
//   slack(s) = max(0, max over t with suffix s of backoff(t) + slack(t)),
// the most that backing off from an extension of s to s can add,
//   highest(s, w) = max(score(s, w) + slack(s), max over t with suffix s and an arc for w of highest(t, w))
// is at least the log probability of w after every extension of s, and equal to the greatest of them where no back-off
// adds anything (slack is 0), as in all models of Kneser-Ney.
#pragma once

#include <span>

#include "translate/automaton.hpp"

namespace certus::translate {

class WordBounds {
 public:
  explicit WordBounds(const Automaton& automaton);

  // The bound of a word after all contexts that extend that of a state.
  double find(const Automaton& automaton, State state, Word word) const;
  // The bound of a word after all contexts that end in some words. It is as tight as that of a state, also where there
  // is no state for these words: then no context that ends in them has arcs.
  double find(const Automaton& automaton, std::span<const Word> context, Word word) const;
  // The bound of the word of an arc after all contexts that extend that of its state.
  double highest(Index arc) const { return highest_[arc]; }
  // The most that backing off from an extension of a state to it can add.
  double slack(State state) const { return slack_[state]; }

 private:
  std::vector<float> highest_;  // [arcs of states with extensions]
  std::vector<float> slack_;    // [states]
};

}  // namespace certus::translate
