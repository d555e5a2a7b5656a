// Work that is shared out over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/interrupt.hpp"
#include "base/time_limit.hpp"
#include "base/types.hpp"

namespace certus {

// Threads that end together: an exception on one of them, or the user who interrupts the thread that waits for them,
// cancels the others. Each has the limit on time of the thread that started it.
class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { join(); }

  // Whether the machine had a thread to give.
  template <class Work>
  bool start(const Work& work) {
    set_running(1);
    try {
      threads_.emplace_back([this, work, end = TimeLimit::current()] {
        interrupt::cancelled = &cancelled_;
        TimeLimit::inherit(end);
        attempt(work);
        set_running(-1);
      });
    } catch (const std::system_error&) {
      set_running(-1);
      return false;
    }
    return true;
  }

  // Runs `work` here; what it throws is kept until wait().
  template <class Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // Waits for all threads, asking now and then whether to stop; the first exception is thrown again here.
  void wait() {
    attempt([this] {
      std::unique_lock lock(guard_);
      while (!finished_.wait_for(lock, std::chrono::milliseconds(20), [this] { return running_ == 0; })) {
        lock.unlock();
        interrupt::look();
        lock.lock();
      }
    });
    join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::move(failure);
    cancelled_ = true;
  }
  void set_running(Index change) {
    const std::lock_guard lock(guard_);
    running_ += change;
    if (running_ == 0) finished_.notify_all();
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::vector<std::thread> threads_;
  std::atomic<bool> cancelled_{false};
  std::mutex guard_;
  std::condition_variable finished_;
  Index running_ = 0;
  std::exception_ptr failure_;
};

// Calls work(n, thread) for n in [0, count) on `threads` threads; the first exception is thrown again here.
template <class Work>
void parallel(Index count, Index threads, const Work& work) {
  constexpr Index kItem = Index{1} << 17;  // what an item counts for: one that takes long looks by itself
  std::atomic<Index> next{0};
  Group group;
  const auto loop = [&](Index thread) {
    Heed heed;
    for (Index n; !group.cancelled() && (n = next.fetch_add(1)) < count; heed(kItem)) work(n, thread);
  };
  for (Index i = 1; i < std::min(threads, count); ++i)
    if (!group.start([&loop, i] { loop(i); })) break;
  group.attempt([&] { loop(0); });
  group.wait();
}

}  // namespace certus
