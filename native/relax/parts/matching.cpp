#include "relax/parts/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/arena.hpp"

namespace certus::relax {
namespace {

constexpr double kForbidden = std::numeric_limits<double>::infinity();

}  // namespace

MatchingPart::MatchingPart(std::vector<double> scores, Index rows, Index columns, bool rows_covered,
                           bool columns_covered)
    : Part(std::move(scores)),
      rows_(rows),
      columns_(columns),
      size_(rows + columns),
      rows_covered_(rows_covered),
      columns_covered_(columns_covered),
      costs_(size_ * size_),
      row_price_(size_),
      column_price_(size_),
      slack_(size_),
      partner_(size_),
      from_(size_),
      matched_(size_),
      is_done_(size_) {
  for (Index i = 0; i < rows; ++i) {
    if (rows_covered) add_group(i * columns, (i + 1) * columns, true);
    for (Index j = 0; !rows_covered && j < columns; ++j) add_group(i * columns + j, i * columns + j + 1, false);
  }
}

// A required cell leaves its row and its column no other partner.
void MatchingPart::fill_costs() {
  std::fill(costs_.begin(), costs_.end(), kForbidden);
  for (Index i = 0; i < rows_; ++i)
    for (Index j = 0; j < columns_; ++j) cost(i, j) = -sums_[i * columns_ + j];
  for (Index i = 0; i < rows_ && !rows_covered_; ++i) cost(i, columns_ + i) = 0;
  for (Index j = 0; j < columns_ && !columns_covered_; ++j) cost(rows_ + j, j) = 0;
  // What nobody needs goes together.
  for (Index j = 0; j < columns_; ++j)
    for (Index i = 0; i < rows_; ++i) cost(rows_ + j, columns_ + i) = 0;
  for (Index c = 0; c < cells(); ++c) {
    if (!required_[c]) continue;
    const Index row = c / columns_, column = c % columns_;
    const double kept = cost(row, column);
    for (Index j = 0; j < size_; ++j) cost(row, j) = kForbidden;
    for (Index i = 0; i < size_; ++i) cost(i, column) = kForbidden;
    cost(row, column) = kept;
  }
}

// Finds the cheapest way to match one more row, as Dijkstra does, and keeps all reduced costs at 0 or above.
bool MatchingPart::augment(Index row) {
  std::fill(slack_.begin(), slack_.end(), kForbidden);
  std::fill(is_done_.begin(), is_done_.end(), 0);
  Index at = row, column = -1;
  double length = 0;
  while (true) {
    Index next = -1;
    for (Index j = 0; j < size_; ++j) {
      if (is_done_[j]) continue;
      const double through = length + reduce(at, j);
      if (through < slack_[j]) slack_[j] = through, from_[j] = column;
      if (next < 0 || slack_[j] < slack_[next]) next = j;
    }
    if (next < 0 || slack_[next] == kForbidden) return false;
    heed_(2 * size_);
    length = slack_[next];
    is_done_[next] = 1;
    column = next;
    if (partner_[column] < 0) break;
    at = partner_[column];
  }
  row_price_[row] += length;
  for (Index j = 0; j < size_; ++j) {
    if (!is_done_[j] || j == column) continue;
    column_price_[j] -= length - slack_[j];
    row_price_[partner_[j]] += length - slack_[j];
  }
  while (true) {
    const Index before = from_[column];
    partner_[column] = before < 0 ? row : partner_[before];
    if (before < 0) return true;
    column = before;
  }
}

bool MatchingPart::solve() {
  fill_costs();
  std::fill(column_price_.begin(), column_price_.end(), 0.0);
  std::fill(partner_.begin(), partner_.end(), -1);
  for (Index i = 0; i < size_; ++i) {
    row_price_[i] = kForbidden;
    for (Index j = 0; j < size_; ++j) row_price_[i] = std::min(row_price_[i], costs_[i * size_ + j]);
    if (row_price_[i] == kForbidden) return false;
  }
  for (Index i = 0; i < size_; ++i)
    if (!augment(i)) return false;
  for (Index j = 0; j < size_; ++j) matched_[partner_[j]] = j;
  return true;
}

double MatchingPart::maximize(std::vector<Index>& used) {
  used.clear();
  if (!solve()) return kNever<double>;
  double score = 0;
  for (Index i = 0; i < rows_; ++i) {
    if (matched_[i] >= columns_) continue;
    used.push_back(i * columns_ + matched_[i]);
    score += scores_[used.back()];
  }
  return score;
}

// A matching with a cell costs at least its reduced cost more than the best; one without a cell of the best has another
// cell in its row, and in its column.
bool MatchingPart::max_marginals(double* with, double* without) {
  if (!solve()) {
    std::fill_n(with, cells(), kNever<double>);
    std::fill_n(without, cells(), kNever<double>);
    return true;
  }
  double total = 0;
  for (Index i = 0; i < rows_; ++i)
    if (matched_[i] < columns_) total += sums_[i * columns_ + matched_[i]];
  for (Index i = 0; i < rows_; ++i)
    for (Index j = 0; j < columns_; ++j) {
      const Index c = i * columns_ + j;
      with[c] = total - std::max(0.0, reduce(i, j));
      without[c] = total;
    }
  for (Index i = 0; i < rows_; ++i) {
    const Index j = matched_[i];
    if (j >= columns_) continue;
    double row = kForbidden, column = kForbidden;
    for (Index other = 0; other < size_; ++other) {
      if (other != j) row = std::min(row, reduce(i, other));
      if (other != i) column = std::min(column, reduce(other, j));
    }
    with[i * columns_ + j] = total;
    without[i * columns_ + j] = total - std::max({0.0, row, column});
  }
  return true;
}

bool MatchingPart::complete(const std::vector<Index>& used, double* score) {
  const LocalArena arena;
  Index *in_row = arena.get<Index>(rows_, 0), *in_column = arena.get<Index>(columns_, 0);
  double sum = 0;
  bool fits = true;
  for (const Index c : used) {
    fits = fits && ++in_row[c / columns_] == 1 && ++in_column[c % columns_] == 1;
    sum += scores_[c];
  }
  for (Index i = 0; i < rows_ && rows_covered_; ++i) fits = fits && in_row[i] == 1;
  for (Index j = 0; j < columns_ && columns_covered_; ++j) fits = fits && in_column[j] == 1;
  *score = fits ? sum : kNever<double>;
  return true;
}

}  // namespace certus::relax
