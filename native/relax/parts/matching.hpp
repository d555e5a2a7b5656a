// Bipartite matchings: cells [rows][columns], at most one per row and per column.
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// The assignment problem, by shortest augmenting paths with potentials (Jonker & Volgenant 1987), O(N^3) for N rows and
// columns together: a row that may stay alone has a column of its own to match with, for 0, and a column a row.
class MatchingPart final : public Part {
 public:
  // scores[rows][columns]. Rows, or columns, that are `covered` all have a partner.
  MatchingPart(std::vector<double> scores, Index rows, Index columns, bool rows_covered, bool columns_covered);

  double maximize(std::vector<Index>& used) override;
  // Bounds by reduced costs.
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  void fill_costs();
  bool solve();
  bool augment(Index row);
  double& cost(Index row, Index column) { return costs_[row * size_ + column]; }
  double reduce(Index row, Index column) const {
    return costs_[row * size_ + column] - row_price_[row] - column_price_[column];
  }

  Index rows_, columns_, size_;
  bool rows_covered_, columns_covered_;
  Heed heed_;
  std::vector<double> costs_;                             // [size][size]: scores, negated; +inf forbids
  std::vector<double> row_price_, column_price_, slack_;  // [size]
  std::vector<Index> partner_, from_, matched_;           // [size]: the row of each column; the column before; the
  std::vector<std::uint8_t> is_done_;                     // column of each row
};

}  // namespace certus::relax
