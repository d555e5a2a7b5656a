// The time that work on a thread may take: a search sets it, and long kernels that it calls heed it as they heed
// Ctrl-C.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>

namespace certus {

// Thrown where the time is over.
struct TimeIsUp : std::exception {
  const char* what() const noexcept override { return "the time is over"; }
};

class TimeLimit {
 public:
  // From now on, until this goes; an earlier limit stays.
  explicit TimeLimit(double seconds) {
    if (seconds < kYears)
      end_ = std::min(
          end_, Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() { end_ = before_; }

  static void check() {
    if (end_ != Clock::time_point::max() && Clock::now() >= end_) throw TimeIsUp();
  }

  // Python code that a search calls is not ended halfway.
  class Lifted {
   public:
    Lifted() { end_ = Clock::time_point::max(); }
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;
    ~Lifted() { end_ = before_; }

   private:
    const std::chrono::steady_clock::time_point before_ = end_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kYears = 1e8;  // seconds: more is no limit, and no time point

  static inline thread_local Clock::time_point end_ = Clock::time_point::max();
  const Clock::time_point before_ = end_;
};

}  // namespace certus
