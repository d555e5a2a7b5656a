// The time since something began.
#pragma once

#include <chrono>

namespace certus {

class Stopwatch {
 public:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }  // in seconds

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point began_ = Clock::now();
};

}  // namespace certus
