#include "relax/averaging.hpp"

#include <algorithm>

namespace certus::relax {
namespace {

constexpr double kLess = 0.5, kMore = 1.3;  // how the share changes when the dual did not fall, and when it did
constexpr double kLeast = 1e-3;             // the share at which the descent has stalled

}  // namespace

void Averaging::start() {
  step_ = share_;
  best_ = -kNever<double>;
  far_ = 0;
}

bool Averaging::next(const Whole& /*best*/) {
  const double dual = dual_.bound();
  step_ = dual < best_ ? std::min(kMore * step_, 1.0) : kLess * step_;
  best_ = std::min(best_, dual);
  if (step_ < kLeast) return false;
  if (far_ == 0) far_ = dual_.magnitude();
  dual_.find_losses(losses_);
  bool moved = false;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.moves(v)) continue;
    const Index *first = problem_.first_copy(v), *last = problem_.last_copy(v);
    double mean = 0;
    for (const Index* copy = first; copy != last; ++copy) {
      losses_[*copy] = std::max(losses_[*copy], -far_);
      mean += losses_[*copy];
    }
    mean /= static_cast<double>(problem_.count(v));
    double rest = 0;
    for (const Index* copy = first + 1; copy != last; ++copy) {
      const double u = dual_.round(dual_.multiplier(*copy) + step_ * (mean - losses_[*copy]));
      moved = moved || u != dual_.multiplier(*copy);
      dual_.set_multiplier(*copy, u);
      rest += u;
    }
    dual_.set_multiplier(*first, -rest);
  }
  return moved;
}

}  // namespace certus::relax
