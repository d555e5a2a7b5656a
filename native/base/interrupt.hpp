// Long computations that can be stopped: the user's Ctrl-C, or a failure on another thread.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>

#include "base/types.hpp"

namespace certus {

// Thrown on a thread whose work nobody waits for any more.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

namespace interrupt {

inline void (*ask)() = nullptr;  // throws if the user wants to stop; whoever loads the kernels sets it once
inline thread_local const std::atomic<bool>* cancelled = nullptr;  // of the group of threads that this one belongs to

// Asks on the thread that was called, and looks at its group's flag on the others; throws if the work shall end.
inline void look() {
  if (cancelled) {
    if (cancelled->load(std::memory_order_relaxed)) throw Interrupted();
  } else if (ask) {
    ask();
  }
}

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
  static constexpr Index kWork = Index{1} << 21;  // between two looks at the clock: a millisecond or two
  using Clock = std::chrono::steady_clock;

  [[gnu::noinline, gnu::cold]] void look() {
    left_ = kWork;
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(20);
    interrupt::look();
  }

  Index left_ = kWork;
  Clock::time_point next_{};
};

}  // namespace certus
