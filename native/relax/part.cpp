#include "relax/part.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {

double find_smallest(const std::vector<double>& scores) {
  double smallest = -kNever<double>;
  for (const double score : scores)
    if (score != 0 && std::isfinite(score)) smallest = std::min(smallest, std::abs(score));
  return smallest;
}

void fill_without(const std::vector<CellGroup>& groups, const double* with, double* without) {
  for (const CellGroup& group : groups) {
    if (!group.exactly_one) continue;
    double best = kNever<double>, second = kNever<double>;
    Index at = group.begin;
    for (Index c = group.begin; c < group.end; ++c) {
      if (with[c] > best) second = best, best = with[c], at = c;
      else second = std::max(second, with[c]);
    }
    std::fill(without + group.begin, without + group.end, best);
    if (group.begin < group.end) without[at] = second;
  }
}

}  // namespace certus::relax
