// The end of a search that takes too long.
#pragma once

#include <chrono>
#include <exception>

#include "base/interrupt.hpp"

namespace certus::relax {

struct TimeIsUp : std::exception {};

// Called with the operations that were done; throws TimeIsUp at the time limit, and what Heed throws.
class Watch {
 public:
  explicit Watch(double seconds) : began_(Clock::now()), seconds_(seconds) {}

  void operator()(Index work) {
    heed_(work);
    if ((left_ -= work) >= 0) return;
    left_ = kWork;
    if (elapsed() >= seconds_) throw TimeIsUp();
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Index kWork = Index{1} << 18;

  Heed heed_;
  Clock::time_point began_;
  double seconds_;
  Index left_ = 0;
};

}  // namespace certus::relax
