// A table over a few variables whose cells are the states of some of them together.
#pragma once

#include "relax/part.hpp"

namespace certus::relax {

// A group of cells stands for one variable, a cell per state, or for several, a cell per combination of states in the
// order of C; exactly one cell of each group is used. Tables of two variables with a group for both, and clusters of
// three with a group for each pair, agree on pairs: that makes a relaxation tighter (Sontag et al. 2008).
class ClusterPart final : public Part {
 public:
  // `shape`: the states of each variable; `scopes`: by group its variables, in rising order; `table` in the order of C.
  ClusterPart(std::vector<Index> shape, const std::vector<std::vector<Index>>& scopes, std::vector<double> table,
              std::vector<double> scores);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;
  bool propagates() const override { return true; }
  double largest_rest() const override { return std::max(*std::max_element(table_.begin(), table_.end()), 0.0); }
  double smallest_score() const override { return std::min(find_smallest(scores_), find_smallest(table_)); }

 private:
  double value(Index entry) const;

  std::vector<double> table_;
  Index width_;               // groups
  std::vector<Index> cells_;  // [entries][groups]: the cell of each group that an entry uses
};

}  // namespace certus::relax
