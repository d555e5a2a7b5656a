#include "hypergraph/branching.hpp"

#include <map>

#include "hypergraph/passes.hpp"

namespace certus::hypergraph {
namespace {

constexpr Index kFirstRounds = 200, kRounds = 30;  // of the descent, in the whole problem and in parts of it
constexpr Index kBranchStep = 256;                 // states taken in a unit of work
constexpr std::size_t kSeen = 32;

}  // namespace

BranchAndBound::BranchAndBound(const Forest& forest, const double* weights, Rows rows, Index states)
    : ConstrainedSearch(forest, weights, std::move(rows)), patience_(states), above_(forest) {
  current_.multipliers.assign(static_cast<std::size_t>(relaxation_.rows().count), 0.0);
  current_.bound = std::numeric_limits<double>::infinity();
  push(current_.bound, nullptr);
}

double BranchAndBound::open() const {
  if (phase_ == Phase::over) return kNever<double>;
  return queue_.empty() ? current_.bound : std::max(current_.bound, queue_.top().bound);
}

void BranchAndBound::work() {
  if (phase_ == Phase::take) take();
  if (phase_ == Phase::descend) descend();
  else if (phase_ == Phase::intersect) intersect();
  else if (phase_ == Phase::split) split();
}

void BranchAndBound::push(double bound, const std::shared_ptr<const Cut>& cut) {
  if (!is_beaten(bound)) queue_.push({bound, cut, current_.multipliers, subproblems++});
}

void BranchAndBound::take() {
  current_.bound = kNever<double>;
  if (queue_.empty() || is_beaten(queue_.top().bound)) {
    phase_ = Phase::over;
    return;
  }
  current_ = queue_.top();
  queue_.pop();
  forbid(current_.cut.get());
  seen_.clear();
  begin_descent();
}

void BranchAndBound::forbid(const Cut* cut) {
  relaxation_.restore();
  for (; cut; cut = cut->before.get())
    for (const Edge e : cut->edges) relaxation_.forbid(e);
}

// -- Lagrangian relaxation ----------------------------------------------------------------------------------------

void BranchAndBound::begin_descent() {
  phase_ = Phase::descend;
  descent_.begin(current_.multipliers, current_.cut ? kRounds : kFirstRounds);
}

void BranchAndBound::descend() {
  const Multipliers& at = descent_.at();
  const double value = relaxation_.maximize(at), off = relaxation_.slack(at);
  if (value == kNever<double>) return close();
  descent_.observe(value);
  current_.multipliers = descent_.best();
  current_.bound = std::min(current_.bound, relaxation_.tight(value + off));
  if (is_beaten(current_.bound) || is_beaten(value, off)) return close();
  if (!relaxation_.derive(edges_)) {
    too_large_ = true;
    return;
  }
  if (relaxation_.is_satisfied(edges_)) {
    offer(edges_);
    // The best under adjusted scores that satisfies the constraints is the best of all that satisfy them. Where the
    // rounding of the multipliers could hide a better one, the intersection settles it.
    if (relaxation_.is_whole() ? off < 0.25 : is_rounding(off)) return close();
    current_.multipliers = at;
    return begin_intersection();
  }
  remember(edges_);
  if (!descent_.step(value, relaxation_.violation(), std::max(relaxation_.floor(), score_), score_))
    begin_intersection();
}

// -- intersection -------------------------------------------------------------------------------------------------

void BranchAndBound::begin_intersection() {
  phase_ = Phase::intersect;
  relaxation_.adjust(current_.multipliers);
  if (found()) fix();
  // Of derivations with the same signature the intersection keeps the best: rounding must not choose it.
  const auto hides = [&] { return !relaxation_.is_whole() && !is_rounding(relaxation_.slack(current_.multipliers)); };
  if (found() && hides()) relaxation_.measure();
  if (found() && hides()) {
    std::fill(current_.multipliers.begin(), current_.multipliers.end(), 0.0);
    relaxation_.adjust(current_.multipliers);
  }
  signatures_ = std::make_unique<Signatures>(relaxation_);
  intersection_ = std::make_unique<Intersection>(relaxation_, above_, *signatures_);
  taken_ = 0;
  unlimited_ = false;
}

void BranchAndBound::intersect() {
  const double more = relaxation_.offset(current_.multipliers), off = relaxation_.slack(current_.multipliers);
  for (Index n = 0; n < std::min(kBranchStep, patience_) && !is_late(); ++n) {
    double value = kNever<double>;
    const Intersection::Found what = intersection_->next(least(current_.multipliers, score_), &value);
    if (what == Intersection::Found::nothing) return close();
    current_.bound = std::min(current_.bound, relaxation_.tight(value + more + off));
    if (is_beaten(current_.bound) || is_beaten(value + more, off)) return close();
    ++states, ++taken_;
    if (what == Intersection::Found::state) continue;
    if (!intersection_->derivation(edges_)) {
      too_large_ = true;
      return;
    }
    offer(edges_);
    if (relaxation_.is_whole()) continue;
    if (is_rounding(off)) return close();  // what follows is no better but for rounding
    return begin_intersection();
  }
  if (taken_ >= patience_ && !unlimited_) phase_ = Phase::split;
}

// Forbids what no derivation better than the one found can use.
void BranchAndBound::fix() {
  const Forest& f = forest();
  const double* adjusted = relaxation_.adjusted().data();
  std::vector<double> in(static_cast<std::size_t>(f.nodes)), out(in), marginal(static_cast<std::size_t>(f.edges));
  max_inside(f, adjusted, in.data());
  max_outside(f, adjusted, in.data(), out.data());
  max_marginals(f, adjusted, in.data(), out.data(), marginal.data());
  const double more = relaxation_.offset(current_.multipliers), off = relaxation_.slack(current_.multipliers);
  auto cut = std::make_shared<Cut>();
  for (Edge e = 0; e < f.edges; ++e)
    if (relaxation_.is_open(e) && is_beaten(marginal[e] + more, off)) {
      cut->edges.push_back(e);
      relaxation_.forbid(e);
    }
  if (cut->edges.empty()) return;
  fixed += static_cast<Index>(cut->edges.size());
  cut->before = current_.cut;
  current_.cut = cut;
}

// -- splitting ----------------------------------------------------------------------------------------------------

// At the highest node that the derivations seen derive differently: all of them use it, so both halves lose some. Where
// they are all the same, at the highest node that can be derived differently.
void BranchAndBound::split() {
  const Forest& f = forest();
  std::map<Node, std::map<Edge, Index>> uses;
  for (const auto& derivation : seen_)
    for (const Edge e : derivation) ++uses[above_.head[e]][e];
  for (const std::size_t least : {2, 1})
    for (auto at = uses.rbegin(); at != uses.rend(); ++at) {
      const auto& [v, edges] = *at;
      Index open = 0;
      for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e) open += relaxation_.is_open(e);
      if (edges.size() < least || open < 2 || !occurs_once(v)) continue;
      const Edge chosen = std::max_element(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
                            return a.second < b.second;
                          })->first;
      auto without = std::make_shared<Cut>(), with = std::make_shared<Cut>();
      without->before = with->before = current_.cut;
      without->edges.push_back(chosen);
      for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e)
        if (e != chosen && relaxation_.is_open(e)) with->edges.push_back(e);
      push(current_.bound, without);
      push(current_.bound, with);
      return close();
    }
  unlimited_ = true;  // every choice is at a node that derivations may use twice: the intersection goes on
  phase_ = Phase::intersect;
}

// Whether no derivation of this subproblem uses a node twice.
bool BranchAndBound::occurs_once(Node v) const {
  const Forest& f = forest();
  std::vector<double> row(relaxation_.base()), in(static_cast<std::size_t>(f.nodes));
  for (double& x : row) x = x == kNever<double> ? x : 0.0;
  for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e)
    if (row[e] == 0) row[e] = 1;
  max_inside(f, row.data(), in.data());
  return in[f.goal()] <= 1;
}

void BranchAndBound::remember(const std::vector<Edge>& edges) {
  if (seen_.size() == kSeen) seen_.erase(seen_.begin());
  seen_.push_back(edges);
}

}  // namespace certus::hypergraph
