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
constexpr Index kStateStep = 256;                  // states taken in a unit of work
constexpr Index kRanges = 1 << 24;                 // rows times nodes up to which the ranges of sums are worth having
constexpr std::size_t kSeen = 32;

}  // namespace

Constrained::Constrained(const Forest& forest, const double* weights, Rows rows, Index states)
    : f_(forest), rows_(std::move(rows)), patience_(states), weights_(weights, weights + forest.edges), above_(forest) {
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
  Coefficients& c = coefficients_;
  c.rows = rows_.count;
  const std::vector<Index> places = c.build(f_.edges, rows_.edge);
  c.row.resize(places.size());
  c.value.resize(places.size());
  for (Index r = 0; r < rows_.count; ++r)
    for (Index i = rows_.begin[r]; i < rows_.begin[r + 1]; ++i)
      c.row[places[i]] = static_cast<std::int32_t>(r), c.value[places[i]] = rows_.coefficient[i];

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
    else if (phase_ == Phase::intersect) intersect();
    else if (phase_ == Phase::split) split();
    dual.push_back(dual.empty() ? bound() : std::min(dual.back(), bound()));
    primal.push_back(found() ? score_ : kNever<double>);
  }
  return phase_ == Phase::over;
}

void Constrained::push(double bound, const std::shared_ptr<const Cut>& cut) {
  if (!is_beaten(bound)) queue_.push({bound, cut, current_.multipliers, subproblems++});
}

void Constrained::take() {
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
  if (is_beaten(current_.bound) || is_beaten(value, off)) return close();
  if (!best_derivation(f_, adjusted_.data(), in_.data(), edges_)) {
    too_large_ = true;
    return;
  }
  if (is_satisfied(edges_)) {
    offer(edges_);
    // The best under adjusted scores that satisfies the constraints is the best of all that satisfy them. Where scores
    // are whole numbers and the rounding of the multipliers could hide a better one, the intersection settles it.
    if (!whole_ || off < 0.25) return close();
    current_.multipliers = at_;
    return begin_intersection();
  }
  remember(edges_);
  if (++rounds_ == limit_) return begin_intersection();
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

// -- intersection -------------------------------------------------------------------------------------------------

void Constrained::begin_intersection() {
  phase_ = Phase::intersect;
  adjust(current_.multipliers);
  if (found()) fix();
  std::vector<double> low, high, tolerances;
  if (rows_.count * f_.nodes <= kRanges) ranges(low, high);
  for (Index r = 0; r < rows_.count; ++r) tolerances.push_back(tolerance(r));
  intersection_ = std::make_unique<Intersection>(f_, above_, coefficients_, adjusted_, rows_.target,
                                                 std::move(tolerances), std::move(low), std::move(high));
  taken_ = 0;
  unlimited_ = false;
}

// For each constraint and node, the lowest and the highest sum of what can surround the node.
void Constrained::ranges(std::vector<double>& low, std::vector<double>& high) {
  std::vector<double> row(base_.size()), in(in_.size()), out(in_.size());
  for (const double sign : {-1.0, 1.0}) {
    std::vector<double>& range = sign < 0 ? low : high;
    for (Index r = 0; r < rows_.count; ++r) {
      for (std::size_t e = 0; e < row.size(); ++e) row[e] = base_[e] == kNever<double> ? base_[e] : 0.0;
      for (Index i = rows_.begin[r]; i < rows_.begin[r + 1]; ++i) row[rows_.edge[i]] += sign * rows_.coefficient[i];
      max_inside(f_, row.data(), in.data());
      max_outside(f_, row.data(), in.data(), out.data());
      for (const double x : out) range.push_back(sign * x);
    }
  }
}

void Constrained::intersect() {
  const double more = offset(current_.multipliers), off = slack(current_.multipliers);
  for (Index n = 0; n < std::min(kStateStep, patience_); ++n) {
    // States with less cannot lead to anything better than what was found.
    const double least = !found() ? kNever<double> : whole_ ? score_ + 1 - more - off : score_ - more + off;
    double value = kNever<double>;
    const Intersection::Found what = intersection_->next(least, &value);
    if (what == Intersection::Found::nothing) return close();
    current_.bound = std::min(current_.bound, tight(value + more + off));
    if (is_beaten(current_.bound) || is_beaten(value + more, off)) return close();
    ++states, ++taken_;
    if (what == Intersection::Found::state) continue;
    if (!intersection_->derivation(edges_)) {
      too_large_ = true;
      return;
    }
    offer(edges_);
    if (!whole_) return close();  // what follows is no better but for rounding
  }
  if (taken_ >= patience_ && !unlimited_) phase_ = Phase::split;
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
    if (base_[e] != kNever<double> && is_beaten(marginal_[e] + more, off)) {
      cut->edges.push_back(e);
      base_[e] = adjusted_[e] = kNever<double>;
    }
  if (cut->edges.empty()) return;
  fixed += static_cast<Index>(cut->edges.size());
  cut->before = current_.cut;
  current_.cut = cut;
}

// -- splitting ----------------------------------------------------------------------------------------------------

// At the highest node that the derivations seen derive differently: all of them use it, so both halves lose some. Where
// they are all the same, at the highest node that can be derived differently.
void Constrained::split() {
  std::map<Node, std::map<Edge, Index>> uses;
  for (const auto& derivation : seen_)
    for (const Edge e : derivation) ++uses[above_.head[e]][e];
  for (const std::size_t least : {2, 1})
    for (auto at = uses.rbegin(); at != uses.rend(); ++at) {
      const auto& [v, edges] = *at;
      Index open = 0;
      for (Edge e = f_.begin[v]; e < f_.begin[v + 1]; ++e) open += base_[e] != kNever<double>;
      if (edges.size() < least || open < 2 || !occurs_once(v)) continue;
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
  unlimited_ = true;  // every choice is at a node that derivations may use twice: the intersection goes on
  phase_ = Phase::intersect;
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

// -- scores -------------------------------------------------------------------------------------------------------

void Constrained::forbid(const Cut* cut) {
  base_ = weights_;
  for (; cut; cut = cut->before.get())
    for (const Edge e : cut->edges) base_[e] = kNever<double>;
  adjusted_ = base_;
}

void Constrained::adjust(const std::vector<double>& multipliers) {
  for (std::size_t t = 0; t < coefficients_.edge.size(); ++t) {
    double x = base_[coefficients_.edge[t]];
    for (Index i = coefficients_.begin[t]; i < coefficients_.begin[t + 1]; ++i)
      x -= multipliers[coefficients_.row[i]] * coefficients_.value[i];
    adjusted_[coefficients_.edge[t]] = x;
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

double Constrained::tolerance(Index row) const { return exact_rows_ ? 0 : kTolerance * (1 + row_mass_[row]); }

// The highest score that a derivation below a bound can have.
double Constrained::tight(double value) const { return whole_ ? std::floor(value) : value; }

// Whether a value of the relaxation, which may be off by that much, leaves room for a better derivation: where scores
// are whole numbers, for one that is better by one; else, for one that is better by more than rounding can tell.
bool Constrained::is_beaten(double value, double off) const {
  return found() && (whole_ ? tight(value + off) <= score_ : value - off <= score_);
}

bool Constrained::is_satisfied(const std::vector<Edge>& edges) {
  for (Index r = 0; r < rows_.count; ++r) violation_[r] = -rows_.target[r];
  for (const Edge e : edges) {
    const std::int32_t t = coefficients_.of[e];
    if (t < 0) continue;
    for (Index i = coefficients_.begin[t]; i < coefficients_.begin[t + 1]; ++i)
      violation_[coefficients_.row[i]] += coefficients_.value[i];
  }
  for (Index r = 0; r < rows_.count; ++r)
    if (std::abs(violation_[r]) > tolerance(r)) return false;
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
