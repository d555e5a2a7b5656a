#include "hypergraph/astar.hpp"

namespace certus::hypergraph {
namespace {

constexpr Index kStates = 256;  // taken in a unit of work

}  // namespace

AstarSearch::AstarSearch(const Forest& forest, const double* weights, Rows rows)
    : ConstrainedSearch(forest, weights, std::move(rows)),
      above_(forest),
      signatures_(relaxation_),
      intersection_(relaxation_, above_, signatures_) {}

void AstarSearch::work() {
  const double off = relaxation_.slack(Multipliers(static_cast<std::size_t>(relaxation_.rows().count), 0.0));
  for (Index n = 0; n < kStates && !is_late(); ++n) {
    double value = kNever<double>;
    const Intersection::Found what = intersection_.next(kNever<double>, &value);
    if (what == Intersection::Found::nothing) {
      open_ = kNever<double>;
      return;
    }
    open_ = std::min(open_, relaxation_.tight(value + off));
    ++states;
    if (what == Intersection::Found::state) continue;
    open_ = kNever<double>;  // what follows is no better but for rounding
    too_large_ = !intersection_.derivation(edges_);
    if (!too_large_) offer(edges_);
    return;
  }
}

}  // namespace certus::hypergraph
