// The derivations of a sentence that reach a threshold, packed: what may become best when leaves are adjusted.
#pragma once

#include <limits>
#include <vector>

#include "syntax/constituency/chart.hpp"

namespace certus::syntax {

class Forest {
 public:
  // A top has one child, a bottom, below a chain of unary rules (or none, and then the symbols are the same);
  // a bottom has two, both tops, or it is over a word.
  struct Edge {
    std::int32_t head, left, right;  // right is -1 for a chain
    double score;
  };
  struct Word {  // a bottom over a word
    std::int32_t node, position;
    Label tag;
    double score;
  };

  // Packs what of a chart reaches the threshold, from the widest spans on: edges come parents first, and node 0 is
  // the root. `leaves` are those the chart was filled from; words score by them, without adjustments.
  void pack(const Grammar& grammar, const Chart& chart, const Leaves& leaves, double threshold);

  Index length() const { return length_; }
  const std::vector<Label>& symbols() const { return symbols_; }  // [node]
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<Word>& words() const { return words_; }

  // The best derivation where the leaf of tag t at position i scores adjust[i * tags + t] more (adjust may be
  // null). Returns its score with that, or -inf where none is left.
  double maximize(const double* adjust, Index tags);
  // [node] its best edge, as `maximize` found it last; ~(the number of the word) for a leaf; kNoChoice where it
  // has no derivation left.
  static constexpr std::int32_t kNoChoice = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t>& choices() const { return choice_; }
  const std::vector<double>& insides() const { return inside_; }
  // After `maximize`: the best score, with adjustments, of a derivation that uses a tag at a position; -inf
  // where no derivation of the forest does. `out` is (length, tags).
  void max_marginals(const double* adjust, Index tags, double* out);

 private:
  class Packing;

  Index length_ = 0;
  std::vector<Label> symbols_;
  std::vector<Edge> edges_;
  std::vector<Word> words_;
  std::vector<double> inside_, outside_;  // [node]
  std::vector<std::int32_t> choice_;      // [node]
};

}  // namespace certus::syntax
