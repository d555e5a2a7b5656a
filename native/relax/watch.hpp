// The end of a search that takes too long.
#pragma once

#include "base/interrupt.hpp"
#include "base/stopwatch.hpp"
#include "base/time_limit.hpp"

namespace certus::relax {

using certus::TimeIsUp;

// Called with the operations that were done; throws TimeIsUp at the time limit, and what Heed throws.
class Watch {
 public:
  explicit Watch(double seconds) : seconds_(seconds) {}

  void operator()(Index work) {
    heed_(work);
    if ((left_ -= work) >= 0) return;
    left_ = kWork;
    if (elapsed() >= seconds_) throw TimeIsUp();
  }
  double elapsed() const { return stopwatch_.elapsed(); }
  bool is_up() const { return elapsed() >= seconds_; }

 private:
  static constexpr Index kWork = Index{1} << 18;

  Heed heed_;
  Stopwatch stopwatch_;
  double seconds_;
  Index left_ = 0;
};

}  // namespace certus::relax
