#include "hypergraph/constrained.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"

namespace certus::hypergraph {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTolerance = 1e-9;  // by which constraints that are not whole numbers may be off, relative to size
constexpr Index kFirstRounds = 200, kRounds = 30;  // of the descent, in the whole problem and in parts of it
constexpr Index kPatience = 8;                     // rounds without progress before it aims lower
constexpr Index kListed = 256, kListStep = 32;     // derivations listed before a split, and in a unit of work
constexpr std::size_t kSeen = 32;

}  // namespace

Constrained::Constrained(const Forest& forest, const double* weights, Rows rows)
    : f_(forest), rows_(std::move(rows)), weights_(weights, weights + forest.edges) {
  prepare();
  current_.multipliers.assign(static_cast<std::size_t>(rows_.count), 0.0);
  current_.bound = std::numeric_limits<double>::infinity();
  push(current_.bound, nullptr);
}

void Constrained::prepare() {
  const std::size_t edges = static_cast<std::size_t>(f_.edges);
  base_ = adjusted_ = weights_;
  in_.resize(static_cast<std::size_t>(f_.nodes));
  violation_.resize(static_cast<std::size_t>(rows_.count));
  std::vector<Index> uses(edges + 1, 0);
  for (const Edge e : rows_.edge) ++uses[e];
  touch_of_.assign(edges, -1);
  touch_begin_.push_back(0);
  for (Edge e = 0; e < f_.edges; ++e) {
    if (!uses[e]) continue;
    touch_of_[e] = static_cast<std::int32_t>(touched_.size());
    touched_.push_back(e);
    touch_begin_.push_back(touch_begin_.back() + uses[e]);
  }
  touch_row_.resize(rows_.edge.size());
  touch_coefficient_.resize(rows_.edge.size());
  std::vector<Index> next(touch_begin_.begin(), touch_begin_.end());
  for (Index r = 0; r < rows_.count; ++r)
    for (Index i = rows_.begin[r]; i < rows_.begin[r + 1]; ++i) {
      const Index at = next[touch_of_[rows_.edge[i]]]++;
      touch_row_[at] = static_cast<std::int32_t>(r), touch_coefficient_[at] = rows_.coefficient[i];
    }

  most_edges_ = most_edges(f_, weights_.data());
  mass_ = most_mass(f_, weights_.data());
  whole_ = mass_ < 0x1p52 && whole_numbers(weights_.data(), f_.edges);
  exact_rows_ = whole_numbers(rows_.target.data(), rows_.count) &&
                whole_numbers(rows_.coefficient.data(), static_cast<Index>(rows_.coefficient.size()));
  std::vector<double> row(edges);
  for (Index r = 0; r < rows_.count; ++r) {
    for (std::size_t e = 0; e < edges; ++e) row[e] = weights_[e] == kNever<double> ? weights_[e] : 0.0;
    for (Index i = rows_.begin[r]; i < rows_.begin[r + 1]; ++i) row[rows_.edge[i]] += rows_.coefficient[i];
    row_mass_.push_back(most_mass(f_, row.data()) + std::abs(rows_.target[r]));
  }
  for (std::size_t e = 0; e < edges; ++e) row[e] = weights_[e] == kNever<double> ? weights_[e] : -weights_[e];
  max_inside(f_, row.data(), in_.data());
  const double most = in_[f_.goal()];
  floor_ = -most - 1 - slack(std::vector<double>(static_cast<std::size_t>(rows_.count), 0.0));
}

double Constrained::bound() const {
  double most = found() ? score_ : kNever<double>;
  if (phase_ == Phase::over) return most;
  if (!queue_.empty()) most = std::max(most, queue_.top().bound);
  return std::max(most, current_.bound);
}

bool Constrained::run(Index units) {
  for (; units > 0 && phase_ != Phase::over && !too_large_; --units) {
    if (phase_ == Phase::take) take();
    if (phase_ == Phase::descend) descend();
    else if (phase_ == Phase::list) list();
    else if (phase_ == Phase::split) split();
    dual.push_back(dual.empty() ? bound() : std::min(dual.back(), bound()));
    primal.push_back(found() ? score_ : kNever<double>);
  }
  return phase_ == Phase::over;
}

void Constrained::push(double bound, const std::shared_ptr<const Cut>& cut) {
  if (!beaten(bound)) queue_.push({bound, cut, current_.multipliers, subproblems++});
}

void Constrained::take() {
  current_.bound = kNever<double>;
  if (queue_.empty() || beaten(queue_.top().bound)) {
    phase_ = Phase::over;
    return;
  }
  current_ = queue_.top();
  queue_.pop();
  forbid(current_.cut.get());
  seen_.clear();
  begin_descent();
}

// -- Lagrangian relaxation ----------------------------------------------------------------------------------------

void Constrained::begin_descent() {
  phase_ = Phase::descend;
  at_ = current_.multipliers;
  rounds_ = stalled_ = 0;
  limit_ = current_.cut ? kRounds : kFirstRounds;
  lowest_ = std::numeric_limits<double>::infinity();
}

void Constrained::descend() {
  adjust(at_);
  max_inside(f_, adjusted_.data(), in_.data());
  const double most = in_[f_.goal()];
  if (most == kNever<double>) return close();
  const double value = most + offset(at_), off = slack(at_);
  if (value < lowest_) {
    stalled_ = value < lowest_ - 0.1 * level_ ? 0 : stalled_ + 1;
    lowest_ = value;
    current_.multipliers = at_;
  } else {
    ++stalled_;
  }
  current_.bound = std::min(current_.bound, tight(value + off));
  if (beaten(current_.bound) || beaten(value, off)) return close();
  if (!best_derivation(f_, adjusted_.data(), in_.data(), edges_)) {
    too_large_ = true;
    return;
  }
  if (satisfied(edges_)) {
    offer(edges_);
    // The best under adjusted scores that satisfies the constraints is the best of all that satisfy them. Where scores
    // are whole numbers and the rounding of the multipliers could hide a better one, the list settles it.
    if (!whole_ || off < 0.25) return close();
    current_.multipliers = at_;
    return begin_list();
  }
  remember(edges_);
  if (++rounds_ == limit_) return begin_list();
  step(value);
}

// Polyak's step towards the best answer, or, while that is far off or not known, towards a level below the lowest
// value so far, which comes nearer when it is not reached.
void Constrained::step(double value) {
  const double from = std::max(floor_, found() ? score_ : kNever<double>);
  if (rounds_ == 1) level_ = std::max(0.1 * (value - from), 1e-12 * std::abs(value));
  if (stalled_ >= kPatience) {
    level_ *= 0.5, stalled_ = 0;
    at_ = current_.multipliers;  // back to the best point, to leave it in smaller steps
    if (level_ <= 1e-10 * (1 + std::abs(lowest_))) limit_ = rounds_ + 1;
    return;
  }
  const double target = std::max(lowest_ - level_, found() ? score_ : kNever<double>);
  double length = 0;
  for (const double g : violation_) length += g * g;
  const double scale = std::max(value - target, 0.5 * level_) / length;
  for (Index r = 0; r < rows_.count; ++r) at_[r] += scale * violation_[r];
}

// -- listing ------------------------------------------------------------------------------------------------------

void Constrained::begin_list() {
  phase_ = Phase::list;
  adjust(current_.multipliers);
  if (found()) fix();
  list_ = std::make_unique<KBest>(f_, adjusted_.data());
  listed_here_ = 0;
  unlimited_ = false;
}

void Constrained::list() {
  const double more = offset(current_.multipliers), off = slack(current_.multipliers);
  for (Index n = 0; n < kListStep; ++n) {
    double value = 0;
    if (!list_->next(edges_, &value)) {
      if (list_->too_large()) too_large_ = true;
      return close();  // all were looked at
    }
    current_.bound = std::min(current_.bound, tight(value + more + off));
    if (beaten(current_.bound) || beaten(value + more, off)) return close();
    ++listed, ++listed_here_;
    if (satisfied(edges_)) {
      offer(edges_);
      // What follows is no better but for rounding.
      if (!whole_ || beaten(current_.bound)) return close();
    }
    remember(edges_);
  }
  if (listed_here_ >= kListed && !unlimited_) phase_ = Phase::split;
}

// Forbids what no derivation better than the one found can use.
void Constrained::fix() {
  max_inside(f_, adjusted_.data(), in_.data());
  out_.resize(in_.size());
  marginal_.resize(adjusted_.size());
  max_outside(f_, adjusted_.data(), in_.data(), out_.data());
  max_marginals(f_, adjusted_.data(), in_.data(), out_.data(), marginal_.data());
  const double more = offset(current_.multipliers), off = slack(current_.multipliers);
  auto cut = std::make_shared<Cut>();
  for (Edge e = 0; e < f_.edges; ++e)
    if (base_[e] != kNever<double> && beaten(marginal_[e] + more, off)) {
      cut->edges.push_back(e);
      base_[e] = adjusted_[e] = kNever<double>;
    }
  if (cut->edges.empty()) return;
  fixed += static_cast<Index>(cut->edges.size());
  cut->before = current_.cut;
  current_.cut = cut;
}

// -- splitting ----------------------------------------------------------------------------------------------------

// At the highest node that the derivations seen derive differently: all of them use it, so both halves lose some.
// They do differ somewhere, since many were listed before.
void Constrained::split() {
  std::map<Node, std::map<Edge, Index>> uses;
  for (const auto& derivation : seen_)
    for (const Edge e : derivation) ++uses[head(e)][e];
  for (auto at = uses.rbegin(); at != uses.rend(); ++at) {
    const auto& [v, edges] = *at;
    if (edges.size() < 2 || !occurs_once(v)) continue;
    const Edge chosen = std::max_element(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
                          return a.second < b.second;
                        })->first;
    auto without = std::make_shared<Cut>(), with = std::make_shared<Cut>();
    without->before = with->before = current_.cut;
    without->edges.push_back(chosen);
    for (Edge e = f_.begin[v]; e < f_.begin[v + 1]; ++e)
      if (e != chosen && base_[e] != kNever<double>) with->edges.push_back(e);
    push(current_.bound, without);
    push(current_.bound, with);
    return close();
  }
  unlimited_ = true;  // every choice is at a node that derivations may use twice: only the list is left
  phase_ = Phase::list;
}

// Whether no derivation of this subproblem uses a node twice.
bool Constrained::occurs_once(Node v) {
  std::vector<double> row(base_.size());
  for (std::size_t e = 0; e < row.size(); ++e) row[e] = base_[e] == kNever<double> ? base_[e] : 0.0;
  for (Edge e = f_.begin[v]; e < f_.begin[v + 1]; ++e)
    if (row[e] == 0) row[e] = 1;
  std::vector<double> in(in_.size());
  max_inside(f_, row.data(), in.data());
  return in[f_.goal()] <= 1;
}

Node Constrained::head(Edge e) const {
  return static_cast<Node>(std::upper_bound(f_.begin.begin(), f_.begin.end(), e) - f_.begin.begin() - 1);
}

// -- scores -------------------------------------------------------------------------------------------------------

void Constrained::forbid(const Cut* cut) {
  base_ = weights_;
  for (; cut; cut = cut->before.get())
    for (const Edge e : cut->edges) base_[e] = kNever<double>;
  adjusted_ = base_;
}

void Constrained::adjust(const std::vector<double>& multipliers) {
  for (std::size_t t = 0; t < touched_.size(); ++t) {
    double x = base_[touched_[t]];
    for (Index i = touch_begin_[t]; i < touch_begin_[t + 1]; ++i) x -= multipliers[touch_row_[i]] * touch_coefficient_[i];
    adjusted_[touched_[t]] = x;
  }
}

double Constrained::offset(const std::vector<double>& multipliers) const {
  double sum = 0;
  for (Index r = 0; r < rows_.count; ++r) sum += multipliers[r] * rows_.target[r];
  return sum;
}

// By how much a value of the relaxation may be off through rounding.
double Constrained::slack(const std::vector<double>& multipliers) const {
  double mass = mass_;
  for (Index r = 0; r < rows_.count; ++r) mass += std::abs(multipliers[r]) * row_mass_[r];
  return 2 * kEpsilon * (most_edges_ + static_cast<double>(rows_.count) + 4) * mass;
}

// The highest score that a derivation below a bound can have.
double Constrained::tight(double value) const { return whole_ ? std::floor(value) : value; }

// Whether a value of the relaxation, which may be off by that much, leaves room for a better derivation: where scores
// are whole numbers, for one that is better by one; else, for one that is better by more than rounding can tell.
bool Constrained::beaten(double value, double off) const {
  return found() && (whole_ ? tight(value + off) <= score_ : value - off <= score_);
}

bool Constrained::satisfied(const std::vector<Edge>& edges) {
  for (Index r = 0; r < rows_.count; ++r) violation_[r] = -rows_.target[r];
  for (const Edge e : edges) {
    const std::int32_t t = touch_of_[e];
    if (t < 0) continue;
    for (Index i = touch_begin_[t]; i < touch_begin_[t + 1]; ++i) violation_[touch_row_[i]] += touch_coefficient_[i];
  }
  for (Index r = 0; r < rows_.count; ++r)
    if (std::abs(violation_[r]) > (exact_rows_ ? 0 : kTolerance * (1 + row_mass_[r]))) return false;
  return true;
}

void Constrained::offer(const std::vector<Edge>& edges) {
  const double total = certus::hypergraph::score(weights_.data(), edges);
  if (found() && total <= score_) return;
  best_ = edges;
  score_ = total;
}

void Constrained::remember(const std::vector<Edge>& edges) {
  if (seen_.size() == kSeen) seen_.erase(seen_.begin());
  seen_.push_back(edges);
}

}  // namespace certus::hypergraph
