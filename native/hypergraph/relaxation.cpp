#include "hypergraph/relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"

namespace certus::hypergraph {
namespace {

constexpr double kRoundingUnit = std::numeric_limits<double>::epsilon();
constexpr double kTolerance = 1e-9;  // by which constraints that are not whole numbers may be off, relative to size
constexpr Index kPatience = 8;       // rounds without progress before a descent aims lower

}  // namespace

Relaxation::Relaxation(const Forest& forest, const double* weights, Rows rows)
    : f_(forest), rows_(std::move(rows)), weights_(weights, weights + forest.edges) {
  const std::size_t edges = weights_.size();
  base_ = adjusted_ = weights_;
  in_.resize(static_cast<std::size_t>(f_.nodes));
  violation_.resize(static_cast<std::size_t>(rows_.count));
  list_by_edge();
  most_edges_ = most_edges(f_, weights_.data());
  whole_mass_ = mass_ = most_mass(f_, weights_.data());
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
  floor_ = -in_[f_.goal()] - 1 - 2 * kRoundingUnit * (most_edges_ + 4) * mass_;
}

void Relaxation::list_by_edge() {
  Coefficients& c = coefficients_;
  c.rows = rows_.count;
  const std::vector<Index> places = c.build(f_.edges, rows_.edge);
  c.row.resize(places.size());
  c.value.resize(places.size());
  for (Index r = 0; r < rows_.count; ++r)
    for (Index i = rows_.begin[r]; i < rows_.begin[r + 1]; ++i)
      c.row[places[i]] = static_cast<std::int32_t>(r), c.value[places[i]] = rows_.coefficient[i];
}

void Relaxation::adjust(const Multipliers& multipliers) {
  for (std::size_t t = 0; t < coefficients_.edge.size(); ++t) {
    double x = base_[coefficients_.edge[t]];
    for (Index i = coefficients_.begin[t]; i < coefficients_.begin[t + 1]; ++i)
      x -= multipliers[coefficients_.row[i]] * coefficients_.value[i];
    adjusted_[coefficients_.edge[t]] = x;
  }
}

double Relaxation::maximize(const Multipliers& multipliers) {
  adjust(multipliers);
  max_inside(f_, adjusted_.data(), in_.data());
  return in_[f_.goal()] + offset(multipliers);
}

bool Relaxation::derive(std::vector<Edge>& edges) const {
  return best_derivation(f_, adjusted_.data(), in_.data(), edges);
}

bool Relaxation::is_satisfied(const std::vector<Edge>& edges) {
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

double Relaxation::score(const std::vector<Edge>& edges) const {
  return certus::hypergraph::score(weights_.data(), edges);
}

double Relaxation::offset(const Multipliers& multipliers) const {
  double sum = 0;
  for (Index r = 0; r < rows_.count; ++r) sum += multipliers[r] * rows_.target[r];
  return sum;
}

void Relaxation::measure() { mass_ = most_mass(f_, base_.data()); }

double Relaxation::slack(const Multipliers& multipliers) const {
  if (std::all_of(multipliers.begin(), multipliers.end(), [](double u) { return u == 0; })) return 0;
  double mass = mass_;
  for (Index r = 0; r < rows_.count; ++r) mass += std::abs(multipliers[r]) * row_mass_[r];
  return 2 * kRoundingUnit * (most_edges_ + static_cast<double>(rows_.count) + 4) * mass;
}

double Relaxation::tolerance(Index row) const { return exact_rows_ ? 0 : kTolerance * (1 + row_mass_[row]); }

double Relaxation::tight(double value) const { return whole_ ? std::floor(value) : value; }

double Relaxation::least(const Multipliers& multipliers, double score, bool beyond_rounding) const {
  if (score == kNever<double>) return score;
  const double more = offset(multipliers), off = slack(multipliers);
  return whole_ ? score + 1 - more - off : beyond_rounding ? score - more + off : score - more - off;
}

std::vector<double> Relaxation::ranges(double sign) const {
  std::vector<double> row(base_.size()), in(in_.size()), out(in_.size()), range;
  range.reserve(static_cast<std::size_t>(rows_.count) * in.size());
  for (Index r = 0; r < rows_.count; ++r) {
    for (std::size_t e = 0; e < row.size(); ++e) row[e] = is_open(static_cast<Edge>(e)) ? 0.0 : kNever<double>;
    for (Index i = rows_.begin[r]; i < rows_.begin[r + 1]; ++i) row[rows_.edge[i]] += sign * rows_.coefficient[i];
    max_inside(f_, row.data(), in.data());
    max_outside(f_, row.data(), in.data(), out.data());
    for (const double x : out) range.push_back(sign * x);
  }
  return range;
}

void Descent::begin(const Multipliers& from, Index rounds) {
  at_ = best_ = from;
  rounds_ = stalled_ = 0;
  limit_ = rounds;
  lowest_ = std::numeric_limits<double>::infinity();
  level_ = 0;
}

void Descent::observe(double value) {
  if (value < lowest_) {
    stalled_ = value < lowest_ - 0.1 * level_ ? 0 : stalled_ + 1;
    lowest_ = value;
    best_ = at_;
  } else {
    ++stalled_;
  }
}

bool Descent::step(double value, const std::vector<double>& violation, double least, double found) {
  if (++rounds_ >= limit_) return false;
  if (rounds_ == 1) level_ = std::max(0.1 * (value - least), 1e-12 * std::abs(value));
  if (stalled_ >= kPatience) {
    level_ *= 0.5, stalled_ = 0;
    at_ = best_;  // back to the best point, to leave it in smaller steps
    if (level_ <= 1e-10 * (1 + std::abs(lowest_))) limit_ = rounds_ + 1;
    return true;
  }
  const double target = std::max(lowest_ - level_, found);
  double length = 0;
  for (const double g : violation) length += g * g;
  const double scale = std::max(value - target, 0.5 * level_) / length;
  for (std::size_t r = 0; r < violation.size(); ++r) at_[r] += scale * violation[r];
  return true;
}

}  // namespace certus::hypergraph
