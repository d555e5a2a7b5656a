#include "hypergraph/constrained.hpp"

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
}

bool ConstrainedSearch::is_beaten(double value, double off) const {
  return relaxation_.is_whole() ? relaxation_.tight(value + off) <= mark_ : value - off <= mark_;
}

}  // namespace certus::hypergraph
