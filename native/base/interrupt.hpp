// Long computations that can be stopped: the user's Ctrl-C, a limit on time, or a failure on another thread.
#pragma once

#include <atomic>
#include <exception>

#include "base/types.hpp"

namespace certus {

// Thrown on a thread whose group was cancelled.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

namespace interrupt {

inline void (*ask)() = nullptr;  // throws if the user wants to stop; whoever loads the kernels sets it once
inline thread_local const std::atomic<bool>* cancelled = nullptr;  // of the group of threads that this one belongs to

// Checks this thread's limit on time (time_limit.hpp), then asks on the thread that was called, and reads its group's
// flag on the others; throws if the work shall end.
void look();

}  // namespace interrupt

// A loop that may run for long makes one of these and calls it with the operations that each round took, roughly (an
// addition and a comparison of scores is one). It costs a subtraction; about every 20 ms it looks whether to stop, by
// throwing, so what a loop changes must be its own, or right at every call.
class Heed {
 public:
  void operator()(Index work) {
    if ((left_ -= work) < 0) look();
  }

 private:
  static constexpr Index kWork = Index{1} << 21;  // between two readings of the clock: a millisecond or two

  [[gnu::cold]] void look();

  Index left_ = kWork;
  std::int64_t next_ = 0;  // the time of the next check, in nanoseconds of the clock (stopwatch.hpp)
};

}  // namespace certus
