// The time that work may take: a search sets it on its thread, threads that it starts inherit it (parallel.hpp), and
// long kernels check it wherever they check for Ctrl-C.
#pragma once

#include <cstdint>
#include <exception>
#include <limits>

namespace certus {

// Thrown where the time is over.
struct TimeIsUp : std::exception {
  const char* what() const noexcept override { return "the time is over"; }
};

class TimeLimit {
 public:
  using Time = std::int64_t;  // nanoseconds of the clock
  static constexpr Time kNone = std::numeric_limits<Time>::max();

  // From now on, until this goes; an earlier limit stays.
  explicit TimeLimit(double seconds);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() { end_ = before_; }

  static void check();

  static Time current() { return end_; }
  static void inherit(Time end) { end_ = end; }  // on a thread that has just started

  // Python code that a search calls is not ended halfway.
  class Lifted {
   public:
    Lifted() { end_ = kNone; }
    Lifted(const Lifted&) = delete;
    Lifted& operator=(const Lifted&) = delete;
    ~Lifted() { end_ = before_; }

   private:
    const Time before_ = end_;
  };

 private:
  static inline thread_local Time end_ = kNone;
  const Time before_ = end_;
};

}  // namespace certus
