// Upper bounds of what is around a part of a derivation whose opening and last word are known.
//
// The forest is searched twice before it is searched exactly (coarse to fine, as in Petrov, Haghighi & Klein 2008). At
// first nothing is known of the context of a node. Then each node, and each prefix of an edge, is one of a few: one for
// each first word and last word that it may have, with words scored by NeighbourScores. Both are exact maximisations
// of scores that are too high, from below and then from above; what cannot be part of a derivation of the threshold is
// left out of the next one. Texts that differ in their second words are one here, so that there are few.
#pragma once

#include <algorithm>

#include "base/arena.hpp"
#include "base/interrupt.hpp"
#include "translate/hierarchical/neighbour_scores.hpp"
#include "translate/hierarchical/prefix_forest.hpp"

namespace certus::translate {

class EndBounds {
 public:
  // What a node or prefix may begin and end with; the scores of both are [rows][columns].
  struct Table {
    Index rows = 0, columns = 0;
    const Opening* left = nullptr;     // [rows]
    const Neighbour* right = nullptr;  // [columns]
    double* inside = nullptr;          // the best of such parts, without its opening
    double* outside = nullptr;         // the best of what is around them, with their opening
  };

  EndBounds(const ForestProblem& problem, const PrefixForest& prefixes, NeighbourScores& scores, double threshold);

  // The best that a derivation of at least the threshold can be; -inf where there is none.
  double bound() const { return bound_; }
  const Table& prefix(Index p) const { return prefix_[p]; }
  const Table& node(Index v) const { return node_[v]; }

 private:
  // A prefix without its context.
  struct Shape {
    State state = kEmpty;
    Index known = 0;       // words that are known to be before its end, at most order - 1
    Neighbour right = -1;  // where it ends in a word
    double cost = 0, inside = kNever<double>, outside = kNever<double>;  // its last symbol's cost, at first
  };

  static constexpr double kLeast = kNever<double>;
  static void raise(double& best, double value) { best = std::max(best, value); }

  void find_shapes();
  void run_without_context();
  void begin();
  void make_prefix(Index q);
  void start(Index q);
  void add_word(Index q);
  void add_node(Index q);
  void make_node(Index v);
  void prune(Table& table, double outside);
  void run_outside();
  void hand_down(Index q);
  void hand_down_node(const Table& whole, const Table& before, const Table& part);
  void finish_node(Index v);
  void drop_below_threshold(const Table& table) const;
  template <class Use>
  void visit_edges(Index v, const Use& use) const;
  void number_ends(const Table& table);
  void forget_ends(const Table& table);
  void allocate(Table& table, Index rows, Index columns);
  // What a node knows of the end of a prefix that becomes it.
  Neighbour find_end(Index q, Index column) const {
    return shape_[q].right >= 0 ? scores_.end_in(static_cast<Word>(prefixes_.prefixes[q].symbol))
                                : prefix_[q].right[column];
  }
  double score_first_word(Word word) const { return scores_.score_first(word) + scores_.bound(scores_.open(word)); }

  const ForestProblem& problem_;
  const PrefixForest& prefixes_;
  NeighbourScores& scores_;
  double threshold_, bound_ = kNever<double>;
  std::vector<Shape> shape_;              // [prefixes]
  std::vector<double> inside_, outside_;  // [nodes] without context
  std::vector<Table> prefix_, node_;
  std::vector<Index> row_, column_;  // [openings], [neighbours] of the table at hand, or -1
  std::vector<double> scratch_, other_;
  Arena arena_;
  Heed heed_;
};

}  // namespace certus::translate
