// Looks up what EndBounds knows about items with exact boundaries.
#pragma once

#include "translate/hierarchical/end_bounds.hpp"

namespace certus::translate {

class EndFinder {
 public:
  EndFinder(const ForestProblem& problem, const NeighbourScores& scores, const LeftTable& lefts)
      : problem_(problem),
        scores_(scores),
        lefts_(lefts),
        row_(scores.openings(), -1),
        column_(scores.neighbours(), -1) {}

  // Prepares for the items of a table, which must stay where it is.
  void look_at(const EndBounds::Table& table);
  // [columns] what is around items with a left boundary; null where no derivation needs them.
  const double* find_row(LeftId left) {
    if (left >= opening_.size()) learn(left);
    const Index row = row_[opening_[left]];
    return row < 0 ? nullptr : table_->outside + row * table_->columns;
  }
  // -1 where no derivation needs items that end so.
  Index find_column(Neighbour end) const { return table_->columns == 1 ? 0 : end < 0 ? -1 : column_[end]; }
  // The most that the words of a left boundary cost, but for the first one.
  double rest(LeftId left) const { return rest_[left]; }
  // The most that all around an item adds to its score.
  double find(LeftId left, Neighbour end) {
    const double* row = find_row(left);
    const Index column = find_column(end);
    return row && column >= 0 ? rest_[left] + row[column] : kNever<double>;
  }

 private:
  void learn(LeftId left);

  const ForestProblem& problem_;
  const NeighbourScores& scores_;
  const LeftTable& lefts_;
  const EndBounds::Table* table_ = nullptr;
  std::vector<Index> row_, column_;  // [openings], [neighbours] of the table, or -1
  std::vector<Opening> opening_;     // [left boundaries]
  std::vector<double> rest_;         // [left boundaries]
};

}  // namespace certus::translate
