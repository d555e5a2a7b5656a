#include "hypergraph/constrained.hpp"

#include <cmath>

#include "base/rounding.hpp"

namespace certus::hypergraph {

ConstrainedSearch::ConstrainedSearch(const Forest& forest, const double* weights, Rows rows)
    : relaxation_(forest, weights, std::move(rows)) {}

bool ConstrainedSearch::run(Index units, double seconds) {
  watch_ = Stopwatch();
  seconds_ = seconds;
  for (; units > 0 && !is_over() && !too_large_ && !is_late(); --units) {
    work();
    dual.push_back(std::min(bound(), std::max(score_, open())));
    primal.push_back(score_);
  }
  return is_over();
}

void ConstrainedSearch::offer(const std::vector<Edge>& edges) {
  const double total = relaxation_.score(edges);
  if (found() && total <= score_) return;
  best_ = edges;
  score_ = mark_ = total;
  size_ = 0;
  for (const Edge e : edges) size_ += std::abs(relaxation_.weights()[e]);
  rounding_ = 2 * std::numeric_limits<double>::epsilon() * static_cast<double>(edges.size() + 4) * size_;
}

bool ConstrainedSearch::is_beaten(double value, double off) const {
  if (relaxation_.is_whole()) return relaxation_.tight(value + off) <= mark_;
  return (is_rounding(off) ? value - off - rounding_ : value + off) <= mark_;
}

bool ConstrainedSearch::is_rounding(double off) const { return off <= kRounding * kMixed * size_; }

}  // namespace certus::hypergraph
