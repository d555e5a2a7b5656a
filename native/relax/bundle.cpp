#include "relax/bundle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace certus::relax {
namespace {

constexpr double kSolved = 1e-9;                            // of the magnitudes: a fall below this is none,
constexpr double kStuck = 1e-3;                             // and one below this share of the gap leads nowhere
constexpr double kGuessedGap = 1e-3;                        // of the magnitudes: the gap while no score is known
constexpr int kSearch = 24;                                 // attempts at the step
constexpr int kRound[] = {34, 32, 30, 28, 24, 20, 16, 12};  // bits of the grid that rounding tries to do without
constexpr double kRough = 0.02;                             // of the fall: what it may cost
constexpr double kLess = 0.8, kMore = 1.25,
                 kLeastLevel = 0.3;  // how the level changes as the dual does not fall, or does
constexpr double kFar = 0x1p40;      // of the scores: no step is longer
constexpr double kInfinity = -kNever<double>;

}  // namespace

Bundle::Bundle(Dual& dual, const OptimizerOptions& options)
    : Optimizer(dual),
      level_(options.level),
      share_(options.share),
      margin_(options.margin),
      columns_(dual, options.columns) {}

void Bundle::start() {
  columns_.start();
  best_ = longest_ = kInfinity;
  now_ = level_;
  step_ = promised_ = 0;
  center_.assign(problem_.copies(), 0.0);
}

bool Bundle::next(const Whole& best) {
  const bool news = columns_.add_choices();
  const double dual = dual_.bound(), magnitude = dual_.magnitude();
  if (dual < best_) {
    best_ = dual;
    for (Index copy = 0; copy < problem_.copies(); ++copy) center_[copy] = dual_.multiplier(copy);
    now_ = std::min(level_, kMore * now_);
    longest_ *= 4;
  } else {
    now_ = std::min(level_, std::max(kLeastLevel, kLess * now_));
    if (dual - best_ > promised_) longest_ = step_ / 2;  // it rose by more than it was to fall
  }
  const double gap = best.score != kNever<double> ? best_ - best.score : kGuessedGap * magnitude;
  const double floor = std::max(kSolved * magnitude, kStuck * gap);
  if (step_ == 0) step_ = first_step(gap, floor);
  const double wanted = fill_gains(best, gap), fall = choose_step(wanted, floor);
  promised_ = fall;
  if (fall <= floor) return false;
  find_multipliers(kRough * fall);
  if (!news) {
    columns_.fill_values(following_, values_);
    if (best_ - columns_.model(values_) <= floor) return false;  // the margin alone moves them, and shows nothing new
  }
  for (Index copy = 0; copy < problem_.copies(); ++copy)
    if (dual_.moves(problem_.variable(copy))) dual_.set_multiplier(copy, following_[copy]);
  return true;
}

bool Bundle::fill_average(std::vector<double>& average) const {
  columns_.fill_average(average);
  return true;
}

double Bundle::first_step(double gap, double floor) {
  dual_.list_split(split_);
  double square = 0;
  for (const Index v : split_) {
    const double on = static_cast<double>(dual_.on(v)), count = static_cast<double>(problem_.count(v));
    square += on * (count - on) / count;
  }
  return std::max(gap, floor) / std::max(square, 1e-300);
}

double Bundle::fill_gains(const Whole& best, double gap) {
  if (best.score == kNever<double>) {
    columns_.fill_values(center_, gain_);
    return now_ * gap;
  }
  columns_.add_whole(best);
  columns_.fill_values(center_, gain_);
  const double plain = columns_.model(gain_);
  const std::vector<double>& apart = columns_.distances();
  const double mean = std::accumulate(apart.begin(), apart.end(), 0.0) / static_cast<double>(apart.size());
  const double raise = margin_ * gap / std::max(mean, 1.0);
  for (std::size_t k = 0; k < gain_.size(); ++k) gain_[k] += raise * apart[k];
  return now_ * gap + columns_.model(gain_) - plain;
}

double Bundle::choose_step(double wanted, double floor) {
  const double top = columns_.model(gain_);
  double shortest = 0, longest = kInfinity;  // steps with which the model falls too little, too much
  double fall = 0, before = 0;
  longest_ = std::min(longest_, kFar * dual_.largest());
  step_ = std::min(step_, longest_);
  for (int attempt = 0; attempt < kSearch; ++attempt) {
    columns_.mix(gain_, step_, 0.01 * floor, slopes_);
    fall = top - columns_.model(slopes_);
    if (fall < 0.9 * wanted && longest == kInfinity && before != 0 && fall < 1.01 * before) {
      // A longer step found nothing lower: this is all that the model can fall.
      if (fall <= floor) return fall;
      wanted = share_ * fall, before = 0, longest = step_, shortest = 0;
      step_ /= 4;
    } else if (fall < 0.9 * wanted) {
      if (step_ == longest_) break;
      before = fall, shortest = step_;
      step_ = std::min(longest == kInfinity ? 4 * step_ : std::sqrt(shortest) * std::sqrt(longest), longest_);
    } else if (fall > 1.1 * wanted) {
      longest = step_;
      step_ = shortest == 0 ? step_ / 4 : std::sqrt(shortest) * std::sqrt(longest);
    } else {
      break;
    }
    if (longest < 1.05 * shortest) break;
  }
  return fall;
}

void Bundle::snap(double grid, std::vector<double>& snapped) const {
  const double near = std::ldexp(grid, 53);  // multipliers beyond are on the grid, as all floats there
  snapped = following_;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.moves(v)) continue;
    const Index* first = problem_.first_copy(v);
    double rest = 0;
    for (const Index* copy = first + 1; copy != problem_.last_copy(v); ++copy) {
      double& u = snapped[*copy];
      if (std::abs(u) < near) u = std::nearbyint(u / grid) * grid;
      rest += u;
    }
    snapped[*first] = -rest;
  }
}

void Bundle::find_multipliers(double slack) {
  columns_.fill_average(average_);
  following_ = center_;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.moves(v)) continue;
    const Index *first = problem_.first_copy(v), *last = problem_.last_copy(v);
    double mean = 0;
    for (const Index* copy = first; copy != last; ++copy) mean += average_[*copy];
    mean /= static_cast<double>(problem_.count(v));
    for (const Index* copy = first; copy != last; ++copy) following_[*copy] -= step_ * (average_[*copy] - mean);
  }
  snap(dual_.grid(), snapped_);
  columns_.fill_values(snapped_, values_);
  const double most = columns_.model(values_) + slack;
  std::vector<double> rounder;
  for (const int bits : kRound) {
    snap(std::ldexp(dual_.grid(), bits), rounder);
    columns_.fill_values(rounder, values_);
    if (columns_.model(values_) > most) continue;
    following_.swap(rounder);
    return;
  }
  following_.swap(snapped_);
}

}  // namespace certus::relax
