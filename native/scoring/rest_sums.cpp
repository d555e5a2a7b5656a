#include "scoring/rest_sums.hpp"

#include <algorithm>
#include <cmath>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

constexpr double kRounding = 1e-6;  // of scores in single precision
constexpr double kLost = 1e-30;     // beside 1, what numbers that are out of range add up to at most
constexpr Index kRestLanes = NgramBounds::kBlock;
constexpr double kInRange = 80;  // of exp in single precision

// By how much, as a share, sums of so many products in single precision may be too small.
double find_rounding(Index count) { return 1e-5 + 1e-8 * static_cast<double>(count); }

std::vector<float> exponentiate_all(const float* x, std::size_t n) {
  std::vector<float> out(n);
  std::transform(x, x + n, out.begin(), [](float each) { return std::exp(each); });
  return out;
}

// The sum of x[i] y[i], over whole blocks.
CERTUS_CLONES float add_up_products(const float* __restrict x, const float* __restrict y, Index count) {
  float sums[kRestLanes] = {};
  for (Index b = 0; b < count; b += kRestLanes)
    for (Index i = 0; i < kRestLanes; ++i) sums[i] += x[b + i] * y[b + i];
  float sum = 0;
  for (const float each : sums) sum += each;
  return sum;
}

CERTUS_CLONES float add_up_all(const float* x, Index count) {
  float sums[kRestLanes] = {};
  for (Index b = 0; b < count; b += kRestLanes)
    for (Index i = 0; i < kRestLanes; ++i) sums[i] += x[b + i];
  float sum = 0;
  for (const float each : sums) sum += each;
  return sum;
}

// x[i] += z y[i]
CERTUS_CLONES void add_multiple(const float* __restrict y, float z, Index count, float* __restrict x) {
  for (Index i = 0; i < count; ++i) x[i] += z * y[i];
}

CERTUS_CLONES void multiply(const float* __restrict y, Index count, float* __restrict x) {
  for (Index i = 0; i < count; ++i) x[i] *= y[i];
}

}  // namespace

RestTables::RestTables(const NgramBounds& bounds, Index order)
    : order_(order), places_(static_cast<std::size_t>(bounds.places())) {
  early_ending_ = exponentiate_all(bounds.ending(0), places_);
  early_around_ = exponentiate_all(bounds.around(0), places_);
  ending_ = exponentiate_all(bounds.ending(order), places_);
  around_ = exponentiate_all(bounds.around(order), places_);
  const std::size_t all = (static_cast<std::size_t>(bounds.groups()) + 1) * places_;
  ending_after_ = exponentiate_all(bounds.ending_after(0), all);
  leaving_to_ = exponentiate_all(bounds.leaving_to(0), all);
}

void RestSums::find(Cascade& cascade, const RestTables& tables, const Allowed* allowed, const UnitScores& units) {
  bounds_ = cascade.bounds, tables_ = &tables;
  const Index P = bounds_->places();
  weights_.assign(cascade.length() * P, kNever<float>);  // as places between labels stay
  shifts_.resize(cascade.length());
  through_.assign(P, 0), through_shift_ = -kNever<double>;
  scores_.resize(P + NgramBounds::kBlock);  // which may be read, and does not count
  for (Index t = 1; t <= cascade.length(); ++t) {
    float* const weights = weights_.data() + (t - 1) * P;
    for (Index g = 0; g < bounds_->groups(); ++g)
      cascade.score_dropped(t, g, units.at(t), allowed ? allowed[t - 1] : Allowed{}, weights);
    std::copy_n(weights, P, scores_.data());
    const float most = lattice::find_largest(weights, P);
    shifts_[t - 1] = most == kNever<float> ? 0 : static_cast<double>(most);
    lattice::exponentiate(weights, P, most == kNever<float> ? 0 : most);
    for (Index i = 0; i < P; ++i)
      if (scores_[i] == kNever<float>) weights[i] = 0;
    for (Index g = 0; g < bounds_->groups(); ++g) cascade.set_rest(t, g, add_up(t, g, weights));
  }
}

// Of one coarse tag. Where weights are out of range, by their largest.
RestScore RestSums::add_up(Index t, Index group, const float* weights) const {
  const Index first = bounds_->begin(group), count = bounds_->begin(group + 1) - first;
  const RestScore most =
      find_largest_sums(scores_.data() + first, bounds_->ending(t) + first, bounds_->around(t) + first, count);
  if (most.own == kNever<float>) return most;
  const double shift = shifts_[t - 1], number = std::log(static_cast<double>(count));
  const auto find_least = [&](float sum, float largest) {
    const double all = static_cast<double>(largest) + number,
                 log = std::log(static_cast<double>(sum) * (1 + find_rounding(count)) + kLost) + shift;
    const double least = log < all ? log : all;  // also where the former is no number
    return static_cast<float>(least + kRounding * (1 + std::abs(least)));
  };
  return {find_least(add_up_all(weights + first, count), most.own),
          find_least(add_up_products(weights + first, tables_->ending(t) + first, count), most.ending),
          find_least(add_up_products(weights + first, tables_->around(t) + first, count), most.around)};
}

void RestSums::go_through(Index t, std::span<const TagLead> leads, const TagPairs& coarse, const double* to_other,
                          const double* excess) {
  const Index G = bounds_->groups();
  double most = kNever<double>;
  for (Index g = 0; g < G; ++g) {
    most = std::max(most, to_other[g]);
    for (const TagLead& lead : leads) most = std::max(most, lead.score + excess[g] + coarse.row(g)[lead.tag]);
  }
  through_shift_ = shifts_[t - 1] + most;
  const auto weigh = [&](double log) {  // what is out of range is rounded up
    return log == kNever<double> ? 0.0f : static_cast<float>(std::exp(std::max(log - most, -kInRange)));
  };
  for (Index g = 0; g < G; ++g) {
    const Index first = bounds_->begin(g), count = bounds_->begin(g + 1) - first;
    float* const out = through_.data() + first;
    std::fill_n(out, count, weigh(to_other[g]));
    for (const TagLead& lead : leads)
      add_multiple(tables_->leaving_to(static_cast<Unit>(lead.tag)) + first,
                   weigh(lead.score + excess[g] + coarse.row(g)[lead.tag]), count, out);
    multiply(weights_.data() + (t - 1) * bounds_->places() + first, count, out);
  }
}

double RestSums::lead_from(Unit before, const TagPairs& coarse) const {
  double sum = kLost, largest = 0;
  for (Index g = 0; g < bounds_->groups(); ++g) {
    const Index first = bounds_->begin(g), count = bounds_->begin(g + 1) - first;
    const double pair = std::exp(coarse.row(before)[g]);
    sum += pair *
           static_cast<double>(add_up_products(through_.data() + first, tables_->ending_after(before) + first, count));
    largest = std::max(largest, pair);
  }
  return std::log(sum * (1 + 2 * find_rounding(bounds_->places())) + kLost * largest) + through_shift_;
}

}  // namespace certus::scoring
