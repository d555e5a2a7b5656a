// What words cost at most after a neighbour of which one word is known, or everything.
//
// To its right, a piece of text is seen as its neighbour: the last word of it, as far as the language model knows it,
// or the whole state of the model. To its left, it is seen as its opening: its first word, or kClosed where that does
// not depend on words before it (see boundaries.hpp). After a neighbour of one word l, a word w costs at most
//   max over x of score(w | x l),    x a word that some derivation of the forest has before l;
// the maximum over all words x, instead of those of the forest, is far weaker.
#pragma once

#include <unordered_map>

#include "translate/hierarchical/forest_search.hpp"

namespace certus::translate {

using Opening = std::int32_t;    // a word of the forest, numbered from 0, or one of two more
using Neighbour = std::int32_t;  // a row of scores

class NeighbourScores {
 public:
  // The forest must have no derivations without words.
  explicit NeighbourScores(const ForestProblem& problem);

  Opening closed() const { return words_; }     // of text whose first word does not depend on what is before
  Opening start() const { return words_ + 1; }  // of text that begins with <s>
  Index openings() const { return words_ + 2; }

  Opening number(Word word) const { return number_[word]; }
  // The opening of text that begins with a word.
  Opening open(Word word) const { return opens(word) ? number_[word] : closed(); }
  bool opens(Word word) const { return order_ > 1 && problem_.model->extends(word); }
  // The most that an opening costs after any neighbour; 0 after <s>.
  double bound(Opening opening) const { return bound_[opening]; }
  // What the score of text has of its first word: nothing, or all that no neighbour changes.
  double score_first(Word word) const {
    return opens(word) ? 0 : problem_.weigh(problem_.model->automaton().score[word]);
  }

  // The neighbour that ends in a word before which nothing is known, and the one of a state.
  Neighbour end_in(Word word) const { return last_[number_[word]]; }
  Neighbour end_in_state(State state);
  // The neighbour that a state is where only its last word is known; -1 where the forest has no such word.
  Neighbour shorten(State state) const;
  // The state of a neighbour of which everything is known.
  State find_state(Neighbour neighbour) const { return state_[neighbour]; }
  Index neighbours() const { return static_cast<Index>(rows_.size()) / openings(); }
  // [openings] what each costs at most after a neighbour.
  const double* row(Neighbour neighbour) const { return rows_.data() + neighbour * openings(); }

 private:
  void number_words();
  void collect_followers();
  void make_last_words();
  void add_context(State longer, State last, Neighbour row, double& most);
  void make_bounds();
  Neighbour add_row(State state, double value);
  template <class Visit>
  void visit_followers(const std::uint64_t* set, const Visit& visit) const;

  const ForestProblem& problem_;
  const Automaton& automaton_;
  Index order_;
  std::vector<Opening> number_;  // [words of the model] or -1
  std::vector<Word> word_;       // [words_]
  Opening words_ = 0;
  Index stride_ = 0;                       // 64-bit words of a set of words
  std::vector<std::uint64_t> followers_;   // [words_][stride_] what may follow each word
  std::vector<std::uint64_t> beginnings_;  // [stride_] what derivations may begin with
  std::vector<Neighbour> last_;            // [words_]
  std::vector<double> rows_;               // [neighbours][openings]
  std::vector<State> state_;               // [neighbours]
  std::vector<double> bound_;              // [openings]
  std::unordered_map<State, Neighbour> whole_, end_;
};

}  // namespace certus::translate
