// A packed sentence whose words' scores change, and its best derivations under them.
#pragma once

#include <vector>

#include "syntax/constituency/pack.hpp"

namespace certus::syntax {

class AdjustedForest {
 public:
  explicit AdjustedForest(ParseForest forest);

  const ParseForest& forest() const { return forest_; }

  // The score of the best derivation where the word of tag t at position i scores adjust[i * tags + t] more; -inf where
  // none is left.
  double maximize(const double* adjust, Index tags);
  // After `maximize`, which found one: the edges of that derivation, in preorder.
  void write_best(std::vector<hypergraph::Edge>& edges) const;
  // After `maximize`: out[i * tags + t] becomes the best score, with adjustments, of a derivation that uses the tag t
  // at position i. Cells that no derivation of the forest uses stay as they are.
  void max_marginals(Index tags, double* out) const;

 private:
  ParseForest forest_;
  std::vector<double> weights_;  // [edge] the scores with adjustments: those of words are all that ever changes
  std::vector<double> inside_;   // [node]
};

}  // namespace certus::syntax
