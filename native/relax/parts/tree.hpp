// Spanning trees over n words and a root: cells [n][n + 1], one head per word; see spanning_tree.hpp.
#pragma once

#include "relax/part.hpp"

namespace certus::relax {

class TreePart final : public Part {
 public:
  // scores[n][n + 1]. With `single`, the root has exactly one child.
  TreePart(std::vector<double> scores, Index words, bool single);

  double maximize(std::vector<Index>& used) override;
  // Bounds by reduced costs, in O(n^2).
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  Index words_;
  bool single_;
  std::vector<Index> heads_;  // [n]
};

}  // namespace certus::relax
