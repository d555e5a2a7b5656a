// Work that is shared out over threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/types.hpp"

namespace certus {

// Threads that end together: an exception on one of them, or the user who interrupts the thread that waits for them,
// cancels the others. Each has the limit on time of the thread that started it.
class Group {
 public:
  Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  // Whether the machine had a thread to give.
  bool start(std::function<void()> work);

  // Runs `work` here; what it throws is kept until wait().
  void attempt(const std::function<void()>& work);

  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // Waits for all threads, asking now and then whether to stop; the first exception is thrown again here.
  void wait();

 private:
  struct Threads;

  std::atomic<bool> cancelled_{false};
  const std::unique_ptr<Threads> threads_;
};

// Calls work(n, thread) for n in [0, count) on `threads` threads; the first exception is thrown again here.
void parallel(Index count, Index threads, const std::function<void(Index n, Index thread)>& work);

}  // namespace certus
