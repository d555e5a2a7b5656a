#include "base/interrupt.hpp"

#include "base/stopwatch.hpp"
#include "base/time_limit.hpp"

namespace certus {

void interrupt::look() {
  TimeLimit::check();
  if (cancelled) {
    if (cancelled->load(std::memory_order_relaxed)) throw Interrupted();
  } else if (ask) {
    ask();
  }
}

void Heed::look() {
  constexpr std::int64_t kPause = 20'000'000;
  left_ = kWork;
  const std::int64_t now = read_clock();
  if (now < next_) return;
  next_ = now + kPause;
  interrupt::look();
}

}  // namespace certus
