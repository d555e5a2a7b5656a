// What it costs to join a phrase to what stands before it: the language model's scores of its first two target words
// after each word that may stand there ("source").
//
// Most pairs of words were never seen together, and then the score of the first word is its own plus a back-off weight,
// and that of the second does not depend on the source. So a row of the tables is a copy of the default, corrected
// where the model has an arc.
#pragma once

#include "translate/phrases.hpp"

namespace certus::translate {

class JoinCosts {
 public:
  // The beginning of a phrase. The second word is absent where nothing can tell it from the first or there is none.
  struct Pair {
    Index first;  // among the first words
    Word second;
    bool has_second;
  };
  struct Arc {
    Index first;
    double score;  // of the first word, not weighted; a bound of it for models of order above 3
  };

  JoinCosts(const PhraseProblem& problem, std::vector<Word> firsts, std::vector<Pair> pairs);

  // Adds a source, and returns its number; sources are numbered as they come.
  Index add_source(State state);

  Index sources() const { return sources_; }
  double first(Index source, Index first) const { return first_[source * firsts() + first]; }       // weighted
  double second(Index source, Index pair) const { return second_[source * pairs() + pair]; }        // weighted
  State state_after(Index source, Index first) const { return after_[source * firsts() + first]; }  // the first word
  // The first words that the model has arcs for from a state.
  std::vector<Arc> list_arcs(State state) const;

 private:
  Index firsts() const { return static_cast<Index>(first_words_.size()); }
  Index pairs() const { return static_cast<Index>(pairs_.size()); }
  template <class Take>
  void match_arcs(State state, const Take& take) const;
  double score_second(State state, Word word) const;
  void score_seconds(State after, Index first, double* seconds) const;

  const PhraseProblem& problem_;
  const Automaton& automaton_;
  bool exact_;
  std::vector<Word> first_words_;       // in increasing order
  std::vector<Pair> pairs_;             // those of one first word beside each other, in the same order
  std::vector<Index> pair_begin_;       // [first words + 1]
  std::vector<double> default_score_;   // [first words] without a context, not weighted
  std::vector<State> default_after_;    // [first words]
  std::vector<double> default_second_;  // [pairs] where nothing is known of the source, weighted
  Index sources_ = 0;
  std::vector<double> first_;   // [sources * first words]
  std::vector<State> after_;    // [sources * first words]
  std::vector<double> second_;  // [sources * pairs]
};

}  // namespace certus::translate
