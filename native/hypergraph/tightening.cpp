#include "hypergraph/tightening.hpp"
#include "base/limits.hpp"

#include <algorithm>

namespace certus::hypergraph {
namespace {

constexpr Index kRoundsBefore = 200,
                kRoundsAfter = 100;                  // of the relaxation, before constraints are put back and after
constexpr Index kAtOnce = 3;                         // constraints put back together
constexpr Index kMostCountedEdges = Index{1} << 25;  // edges of the forest that counts them

}  // namespace

LagrangianSearch::LagrangianSearch(const Forest& forest, const double* weights, Rows rows, bool tighten)
    : ConstrainedSearch(forest, weights, std::move(rows)), tighten_(tighten) {
  const auto count = static_cast<std::size_t>(relaxation_.rows().count);
  violated_.assign(count, 0);
  hard_.assign(count, 0);
  descent_.begin(Multipliers(count, 0.0), kRoundsBefore);
}

void LagrangianSearch::work() {
  Relaxation& relaxation = current();
  const Multipliers& at = descent_.at();
  const double value = relaxation.maximize(at), off = relaxation.slack(at);
  descent_.observe(value);
  open_ = std::min(open_, relaxation.tight(value + off));
  if (is_beaten(open_) || is_beaten(value, off)) return close();
  if (!relaxation.derive(edges_)) {
    too_large_ = true;
    return;
  }
  if (relaxation.is_satisfied(edges_)) {
    translate(edges_);
    offer(edges_);
    if (is_beaten(open_) || is_beaten(value, off)) return close();
    return tighten();
  }
  for (std::size_t r = 0; r < violated_.size(); ++r) violated_[r] += relaxation.violation()[r] != 0;
  if (!descent_.step(value, relaxation.violation(), std::max(relaxation_.floor(), score_), score_)) tighten();
}

// -- putting constraints back -------------------------------------------------------------------------------------

void LagrangianSearch::tighten() {
  const bool all = std::all_of(hard_.begin(), hard_.end(), [](std::uint8_t x) { return x; });
  over_ = !tighten_ || all;
  if (over_) return;
  choose_rows();
  Multipliers at = descent_.best();
  relaxation_.adjust(at);
  Relaxation counted(forest(), relaxation_.adjusted().data(), select_rows());
  Signatures signatures(counted);
  Beam beam(counted, signatures);
  if (!beam.run({kNoCountLimit, least(at, mark_), true, kMostCountedEdges}, [&] { return is_late(); })) return;
  states += beam.states();
  ++subproblems;
  if (beam.is_full()) {
    over_ = true;
    return;
  }
  if (!beam.found()) return close();
  rebuild(beam.make_product());
  for (std::size_t r = 0; r < at.size(); ++r)
    if (hard_[r]) at[r] = 0;  // the forest sees to it
  descent_.begin(at, kRoundsAfter);
}

// Those that were violated most often; of equals the first.
void LagrangianSearch::choose_rows() {
  for (Index n = 0; n < kAtOnce; ++n) {
    std::size_t most = hard_.size();
    for (std::size_t r = 0; r < hard_.size(); ++r)
      if (!hard_[r] && (most == hard_.size() || violated_[r] > violated_[most])) most = r;
    if (most == hard_.size()) break;
    hard_[most] = 1;
  }
  std::fill(violated_.begin(), violated_.end(), 0);
}

Rows LagrangianSearch::select_rows() const {
  const Rows& all = relaxation_.rows();
  Rows out{0, {0}, {}, {}, {}};
  for (Index r = 0; r < all.count; ++r) {
    if (!hard_[r]) continue;
    ++out.count;
    out.edge.insert(out.edge.end(), all.edge.begin() + all.begin[r], all.edge.begin() + all.begin[r + 1]);
    out.coefficient.insert(out.coefficient.end(), all.coefficient.begin() + all.begin[r],
                           all.coefficient.begin() + all.begin[r + 1]);
    out.begin.push_back(static_cast<Index>(out.edge.size()));
    out.target.push_back(all.target[r]);
  }
  return out;
}

// The relaxation of all constraints over the forest that counts some of them.
void LagrangianSearch::rebuild(Beam::Product product) {
  product_ = std::move(product);
  const Coefficients& c = relaxation_.coefficients();
  std::vector<double> weights;
  std::vector<std::vector<Edge>> edges(hard_.size());
  std::vector<std::vector<double>> values(hard_.size());
  for (std::size_t e = 0; e < product_.edge.size(); ++e) {
    const Edge of = product_.edge[e];
    weights.push_back(of == Beam::kCrown ? 0.0 : relaxation_.weights()[of]);
    const std::int32_t t = of == Beam::kCrown ? -1 : c.of[of];
    if (t < 0) continue;
    for (Index i = c.begin[t]; i < c.begin[t + 1]; ++i) {
      edges[c.row[i]].push_back(static_cast<Edge>(e));
      values[c.row[i]].push_back(c.value[i]);
    }
  }
  Rows rows{static_cast<Index>(hard_.size()), {0}, {}, {}, relaxation_.rows().target};
  for (std::size_t r = 0; r < edges.size(); ++r) {
    rows.edge.insert(rows.edge.end(), edges[r].begin(), edges[r].end());
    rows.coefficient.insert(rows.coefficient.end(), values[r].begin(), values[r].end());
    rows.begin.push_back(static_cast<Index>(rows.edge.size()));
  }
  tightened_ = std::make_unique<Relaxation>(*product_.forest, weights.data(), std::move(rows));
}

void LagrangianSearch::translate(std::vector<Edge>& edges) const {
  if (!tightened_) return;
  for (Edge& e : edges) e = product_.edge[e];
  edges.erase(std::remove(edges.begin(), edges.end(), Beam::kCrown), edges.end());
}

}  // namespace certus::hypergraph
