#include "relax/parts/table.hpp"

#include <algorithm>

namespace certus::relax {

TablePart::TablePart(std::vector<Index> shape, std::vector<std::uint8_t> single, std::vector<double> table,
                     std::vector<double> scores)
    : Part(std::move(scores)), shape_(std::move(shape)), single_(std::move(single)), table_(std::move(table)) {
  Index cell = 0, state = 0;
  for (std::size_t v = 0; v < shape_.size(); ++v) {
    const Index cells = single_[v] ? 1 : shape_[v];
    add_group(cell, cell + cells, !single_[v]);
    begin_.push_back(state);
    cell += cells;
    state += shape_[v];
  }
  states_.resize(state);
  best_.resize(state);
  const std::size_t last = shape_.size() - 1;
  rows_.resize(table_.size() / shape_[last] * last);
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    Index row = static_cast<Index>(at / last);
    for (std::size_t v = last - 1; v > at % last; --v) row /= shape_[v];
    rows_[at] = static_cast<Label>(begin_[at % last] + row % shape_[at % last]);
  }
}

void TablePart::read_states() {
  for (std::size_t v = 0; v < shape_.size(); ++v) {
    const Index cell = groups()[v].begin;
    if (single_[v]) states_[begin_[v]] = required_[cell] ? kNever<double> : 0.0, states_[begin_[v] + 1] = sums_[cell];
    else std::copy_n(sums_.begin() + cell, shape_[v], states_.begin() + begin_[v]);
  }
}

double TablePart::sum_row(Index row) const {
  const Index others = static_cast<Index>(shape_.size()) - 1;
  double sum = 0;
  for (Index v = 0; v < others; ++v) sum += states_[rows_[row * others + v]];
  return sum;
}

double TablePart::maximize(std::vector<Index>& used) {
  used.clear();
  read_states();
  const Index width = shape_.back();
  const double* states = states_.data() + begin_.back();
  double best = kNever<double>;
  Index at = -1;
  const Index rows = static_cast<Index>(table_.size()) / width;
  for (Index row = 0; row < rows; ++row) {
    const double first = sum_row(row);
    const double* entries = table_.data() + row * width;
    for (Index s = 0; s < width; ++s) {
      const double value = first + entries[s] + states[s];
      if (value > best) best = value, at = row * width + s;
    }
    heed_(width);
  }
  if (at < 0) return kNever<double>;
  double score = table_[at];
  for (std::size_t v = shape_.size(); v-- > 0; at /= shape_[v]) {
    const Index state = at % shape_[v], cell = groups()[v].begin;
    if (!single_[v]) used.push_back(cell + state);
    else if (state == 1) used.push_back(cell);
  }
  std::reverse(used.begin(), used.end());
  for (const Index cell : used) score += scores_[cell];
  return score;
}

bool TablePart::complete(const std::vector<Index>& used, double* score) {
  *score = kNever<double>;
  Index at = 0;
  auto next = used.begin();
  for (std::size_t v = 0; v < shape_.size(); ++v) {
    const CellGroup& group = groups()[v];
    const bool uses = next != used.end() && *next < group.end;
    if (!uses && !single_[v]) return true;
    at = at * shape_[v] + (single_[v] ? static_cast<Index>(uses) : *next - group.begin);
    if (uses) ++next;
    if (next != used.end() && *next < group.end) return true;
  }
  *score = table_[at];
  for (const Index cell : used) *score += scores_[cell];
  return true;
}

double TablePart::largest_rest() const { return std::max(*std::max_element(table_.begin(), table_.end()), 0.0); }

bool TablePart::max_marginals(double* with, double* without) {
  read_states();
  std::fill(best_.begin(), best_.end(), kNever<double>);
  const Index width = shape_.back(), begin = begin_.back(), others = static_cast<Index>(shape_.size()) - 1;
  const Index rows = static_cast<Index>(table_.size()) / width;
  for (Index row = 0; row < rows; ++row) {
    const double first = sum_row(row);
    const double* entries = table_.data() + row * width;
    double most = kNever<double>;
    for (Index s = 0; s < width; ++s) {
      const double value = first + entries[s] + states_[begin + s];
      most = std::max(most, value);
      best_[begin + s] = std::max(best_[begin + s], value);
    }
    for (Index v = 0; v < others; ++v) {
      double& state = best_[rows_[row * others + v]];
      state = std::max(state, most);
    }
    heed_(width);
  }
  for (std::size_t v = 0; v < shape_.size(); ++v) {
    const Index cell = groups()[v].begin;
    if (single_[v]) without[cell] = best_[begin_[v]], with[cell] = best_[begin_[v] + 1];
    else std::copy_n(best_.begin() + begin_[v], shape_[v], with + cell);
  }
  fill_without(groups(), with, without);
  return true;
}

}  // namespace certus::relax
