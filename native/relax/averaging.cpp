#include "relax/averaging.hpp"

#include <algorithm>

namespace certus::relax {
namespace {

constexpr double kShrink = 0.5, kGrow = 1.3;  // how the share changes when the dual did not fall, and when it did
constexpr double kStalled = 1e-3;             // the share at which the descent has stalled

}  // namespace

void Averaging::start() {
  step_ = share_;
  best_ = -kNever<double>;
}

bool Averaging::next(const Whole& /*best*/) {
  const double dual = dual_.bound();
  step_ = dual < best_ ? std::min(kGrow * step_, 1.0) : kShrink * step_;
  best_ = std::min(best_, dual);
  if (step_ < kStalled) return false;
  dual_.find_worths(dual_.largest(), worths_);
  return dual_.even_out(worths_, step_);
}

}  // namespace certus::relax
