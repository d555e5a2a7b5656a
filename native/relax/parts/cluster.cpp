#include "relax/parts/cluster.hpp"

#include <algorithm>

namespace certus::relax {

ClusterPart::ClusterPart(std::vector<Index> shape, const std::vector<std::vector<Index>>& scopes,
                         std::vector<double> table, std::vector<double> scores)
    : Part(std::move(scores)), table_(std::move(table)), width_(static_cast<Index>(scopes.size())) {
  std::vector<Index> begin;
  Index next = 0;
  for (const std::vector<Index>& scope : scopes) {
    begin.push_back(next);
    Index size = 1;
    for (const Index v : scope) size *= shape[v];
    add_group(next, next + size, true);
    next += size;
  }
  std::vector<Index> place(shape.size(), 0);
  for (std::size_t entry = 0; entry < table_.size(); ++entry) {
    for (std::size_t g = 0; g < scopes.size(); ++g) {
      Index at = 0;
      for (const Index v : scopes[g]) at = at * shape[v] + place[v];
      cells_.push_back(begin[g] + at);
    }
    for (std::size_t v = shape.size(); v-- > 0;) {
      if (++place[v] < shape[v]) break;
      place[v] = 0;
    }
  }
}

double ClusterPart::value(Index entry) const {
  double sum = table_[entry];
  for (const Index* cell = &cells_[entry * width_]; cell != &cells_[entry * width_] + width_; ++cell)
    sum += sums_[*cell];
  return sum;
}

double ClusterPart::maximize(std::vector<Index>& used) {
  used.clear();
  double best = kNever<double>;
  Index at = -1;
  for (Index entry = 0; entry < static_cast<Index>(table_.size()); ++entry)
    if (const double sum = value(entry); sum > best) best = sum, at = entry;
  if (at < 0) return kNever<double>;
  double score = table_[at];
  for (Index g = 0; g < width_; ++g) {
    used.push_back(cells_[at * width_ + g]);
    score += scores_[used.back()];
  }
  return score;
}

bool ClusterPart::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  for (Index entry = 0; entry < static_cast<Index>(table_.size()); ++entry) {
    const double sum = value(entry);
    for (Index g = 0; g < width_; ++g) {
      double& best = with[cells_[entry * width_ + g]];
      best = std::max(best, sum);
    }
  }
  fill_without(groups(), with, without);
  return true;
}

bool ClusterPart::complete(const std::vector<Index>& used, double* score) {
  *score = kNever<double>;
  if (static_cast<Index>(used.size()) != width_) return true;
  for (Index entry = 0; entry < static_cast<Index>(table_.size()); ++entry) {
    if (!std::equal(used.begin(), used.end(), cells_.begin() + entry * width_)) continue;
    double sum = table_[entry];
    for (const Index cell : used) sum += scores_[cell];
    *score = std::max(*score, sum);
  }
  return true;
}

}  // namespace certus::relax
