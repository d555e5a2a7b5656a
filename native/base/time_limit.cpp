#include "base/time_limit.hpp"

#include <algorithm>

#include "base/stopwatch.hpp"

namespace certus {

TimeLimit::TimeLimit(double seconds) {
  constexpr double kYears = 1e8;  // seconds: more is no limit, and might not be a time
  if (seconds < kYears) end_ = std::min(end_, read_clock() + static_cast<Time>(1e9 * std::max(seconds, 0.0)));
}

void TimeLimit::check() {
  if (end_ != kNone && read_clock() >= end_) throw TimeIsUp();
}

}  // namespace certus
