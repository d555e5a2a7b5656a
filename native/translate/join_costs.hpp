// What it costs to join a phrase to what stands before it: the language model's scores of its first two target words
// after each word that may stand there ("source").
//
// Most pairs of words were never seen together, and then the score of the first word is its own plus a back-off weight,
// and that of the second does not depend on the source. So a row of the tables is a copy of the default, corrected
// where the model has an arc.
#pragma once

#include <array>

#include "translate/deadline.hpp"
#include "translate/pair_table.hpp"
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
    double score;  // of the first word, weighted; a bound of it for models of order above 3
  };

  JoinCosts(const PhraseProblem& problem, std::vector<Word> firsts, std::vector<Pair> pairs);

  // Fills the tables for these sources, which are numbered as they come.
  void fill(std::span<const State> sources, const Deadline& deadline);

  const double* firsts(Index source) const { return first_.data() + source * firsts(); }       // [first words] weighted
  const double* seconds(Index source) const { return second_.data() + source * pairs(); }      // [pairs] weighted
  const State* states_after(Index source) const { return after_.data() + source * firsts(); }  // [first words]
  // Adds the first words that the model has arcs for from a state.
  void list_arcs(State state, std::vector<Arc>& arcs) const;

 private:
  Index firsts() const { return static_cast<Index>(first_words_.size()); }
  Index pairs() const { return static_cast<Index>(pairs_.size()); }
  void index_firsts();
  template <class Take>
  void match_arcs(State state, const Take& take) const;
  void add_source(State state);
  double score_second(State state, Word word) const;
  void score_seconds(State after, Index first, double* seconds) const;

  const PhraseProblem& problem_;
  const Automaton& automaton_;
  bool exact_;
  std::vector<Word> first_words_;         // in increasing order
  PairTable first_number_;                // by words
  std::array<std::uint64_t, 64> seen_{};  // bits of hashes of first words: most others are told from them by these
  std::vector<Pair> pairs_;               // those of one first word beside each other, in the same order
  std::vector<Index> pair_begin_;         // [first words + 1]
  std::vector<double> default_score_;     // [first words] without a context, not weighted
  std::vector<State> default_after_;      // [first words]
  std::vector<double> default_second_;    // [pairs] where nothing is known of the source, weighted
  std::vector<double> first_;             // [sources * first words]
  std::vector<State> after_;              // [sources * first words]
  std::vector<double> second_;            // [sources * pairs]
};

}  // namespace certus::translate
