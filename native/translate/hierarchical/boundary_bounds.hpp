// Upper bounds from a forest in which each edge guesses the first and the last words of its parts.
//
// With the first and last word of every node known, a word costs at most phi(word | words before it that are known). In
// the relaxed forest each edge chooses them for the nodes of its right-hand side as suits it best, and multipliers
//   lambda(v, f) for "v begins with f",    mu(v, l) for "v ends in l"
// are added where v is made and taken off where it is used; for every derivation of the forest they cancel, so the best
// relaxed derivation is never below the best one (the constraints D3 to D6 of Rush & Collins 2011 for nodes and words,
// instead of paths and leaves). They are not found by subgradient steps but in one pass from below: what a node is
// worth with a first word, I(v, f), becomes lambda(v, f) = max I(v, .) - I(v, f), so that all first words look alike
// where v is made, and whoever uses v sees which one costs what; then the same for last words. This never raises the
// bound, and is exact where a forest is a chain. A pass from above gives, for each node and word, the best rest of a
// derivation.
#pragma once

#include "translate/hierarchical/forest_bounds.hpp"

namespace certus::translate {

// Words of one side of a node with what belongs to them, in the order of words.
struct BoundaryWords {
  std::vector<Word> words;
  std::vector<double> multiplier;  // lambda or mu
  std::vector<double> outside;     // the best rest of a derivation, the multiplier of this side taken off

  Index find(Word word) const;
};

class BoundaryBounds {
 public:
  // The forest must have no edges that no derivation uses, and no derivations without words.
  explicit BoundaryBounds(const ForestProblem& problem);

  // The best that a derivation can be.
  double bound() const { return bound_; }
  // The most that an edge adds to the inner values of its parts, and to what is around it.
  double edge(Index e) const { return edge_[e]; }
  double outside(Index node) const { return outside_[node]; }
  // The best derivation with an edge.
  double find_best(Index e) const { return best_[e]; }

  struct Ends {
    double multipliers, outside;
  };
  // Of a node that begins and ends with some words; outside is -inf where no derivation has that.
  Ends find(Index node, Word first, Word last) const;

 private:
  struct Junction {
    Index left = -1, right = -1;       // nodes, or -1 for words
    std::vector<double> left_values;   // [last words of the left node] or of the pair, the best over the other side
    std::vector<double> right_values;  // [first words of the right node]
    double best = 0;                   // with multipliers
    double rest = kNever<double>;      // the best derivation that uses it, without it
    bool known = false;
  };
  void collect_words();
  void list_junctions();
  void evaluate(Junction& junction, std::span<const Word> context);
  void run_inside();
  void make_node(Index v);
  void run_outside();
  void finish_node(Index v);
  void spread(Index v, Index e);
  double find_shift(const BoundaryWords& whole, const BoundaryWords& part) const;
  double phi(std::span<const Word> context, Word word) const;

  const ForestProblem& problem_;
  std::size_t depth_;                        // words before a word that may be known
  std::vector<BoundaryWords> first_, last_;  // [nodes]
  std::vector<Junction> junctions_;
  std::vector<std::vector<Word>> contexts_;         // [junctions] the words that are known
  std::vector<Index> junction_first_;               // [edges + 1]
  std::vector<Index> junction_of_;                  // inner junctions of edges
  std::vector<std::vector<Index>> after_, before_;  // [nodes] junctions in which it is on the left, on the right
  std::vector<double> constant_, edge_, best_;      // [edges]
  std::vector<double> inside_, outside_;            // [nodes]
  double bound_ = kNever<double>;
};

// Whether some derivation of a node has no words.
bool derives_nothing(const TargetForest& forest);

}  // namespace certus::translate
