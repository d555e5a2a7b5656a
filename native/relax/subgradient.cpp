#include "relax/subgradient.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {
namespace {

constexpr double kGuess = 1e-3;  // of the magnitudes: the gap while no score is known
constexpr double kDecay = 0.95;
constexpr int kMostBits = 8;  // above the scores: in sums with multipliers beyond that, scores would get lost

}  // namespace

Subgradient::Subgradient(Dual& dual, StepRule rule, double step) : Optimizer(dual), rule_(rule), given_(step) {}

void Subgradient::start() {
  first_ = given_ > 0 ? given_ : rule_ == StepRule::halving ? std::min(0.5, dual_.largest()) : 0;
  first_ = std::min(first_, std::ldexp(dual_.largest(), kMostBits));
  rises_ = idle_ = iterations_ = 0;
  last_ = -kNever<double>;
}

bool Subgradient::next(const Whole& best) {
  dual_.list_split(split_);
  double square = 0;  // of the deviations: a variable's are 1 - on / count and on / count
  for (const Index v : split_) {
    const double on = static_cast<double>(dual_.on(v)), count = static_cast<double>(problem_.count(v));
    square += on * (count - on) / count;
  }
  if (square == 0) return false;
  const double dual = dual_.bound();
  // Duals in a circle do not rise: only the rules of the papers take that literally.
  const bool literal = rule_ == StepRule::halving || rule_ == StepRule::koo;
  rises_ += dual > last_ - (literal ? 0.0 : dual_.grid());
  idle_ += dual >= last_;
  ++iterations_;
  last_ = dual;
  const double gap = best.score != kNever<double> ? std::max(dual - best.score, 0.0)
                                                  : kGuess * dual_.magnitude() / static_cast<double>(1 + rises_);
  step_ = find_length(gap, square);
  if (step_ < dual_.grid()) return false;
  for (const Index v : split_) move(v);
  return true;
}

double Subgradient::find_length(double gap, double square) {
  if (rule_ == StepRule::polyak) return (given_ > 0 ? given_ : 1.0) * gap / (2 * square);
  if (first_ == 0) first_ = rule_ == StepRule::koo ? gap : gap / (2 * square);
  switch (rule_) {
    case StepRule::halving: return std::ldexp(first_, -static_cast<int>(std::min<Index>(rises_, 2000)));
    case StepRule::decay: return first_ * std::pow(kDecay, static_cast<double>(iterations_ - 1));
    case StepRule::chang: return first_ * std::pow(kDecay, static_cast<double>(idle_));
    default: return first_ / static_cast<double>(1 + rises_);
  }
}

// A variable of two copies that differ deviates by 1/2 each: twice that is the paper's y - z.
void Subgradient::move(Index v) {
  const Index *first = problem_.first_copy(v), *last = problem_.last_copy(v);
  const double mean = static_cast<double>(dual_.on(v)) / static_cast<double>(problem_.count(v));
  double rest = 0;
  for (const Index* copy = first + 1; copy != last; ++copy) {
    const double deviation = (dual_.uses(*copy) ? 1.0 : 0.0) - mean;
    const double u = dual_.round(dual_.multiplier(*copy) - 2 * step_ * deviation);
    dual_.set_multiplier(*copy, u);
    rest += u;
  }
  dual_.set_multiplier(*first, -rest);
}

}  // namespace certus::relax
