// A table of scores over a few variables.
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// A variable has several states, each of which is a cell, and exactly one of them; or it is one cell that is used
// (state 1) or not (state 0).
class TablePart final : public Part {
 public:
  // `shape`: the states of each variable; `single`: whether it is one cell. `table` in the order of C; `scores` of the
  // cells, one variable after the other.
  TablePart(std::vector<Index> shape, std::vector<std::uint8_t> single, std::vector<double> table,
            std::vector<double> scores);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool propagates() const override { return true; }
  bool complete(const std::vector<Index>& used, double* score) override;
  double largest_rest() const override;
  double smallest_score() const override { return std::min(find_smallest(scores_), find_smallest(table_)); }

 private:
  // The adjusted scores of all states, of single cells those of 0 and 1.
  void read_states();
  // The sum of the states of all variables but the last one, in a row of entries along that.
  double sum_row(Index row) const;

  std::vector<Index> shape_, begin_;  // by variable: its states, and the first of them in states_
  std::vector<std::uint8_t> single_;
  std::vector<double> table_, states_, best_;
  std::vector<Label> rows_;  // [rows][variables - 1]: the states of a row, as places in states_
  Heed heed_;
};

}  // namespace certus::relax
