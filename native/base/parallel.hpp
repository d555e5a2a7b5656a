// Work that is shared out over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/types.hpp"

namespace certus {

// Calls work(n, thread) for n in [0, count) on `threads` threads; the first exception is thrown again here.
template <class Work>
void parallel(Index count, Index threads, const Work& work) {
  std::atomic<Index> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto loop = [&](Index thread) {
    try {
      for (Index n; (n = next.fetch_add(1)) < count;) work(n, thread);
    } catch (...) {
      const std::lock_guard lock(guard);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (Index i = 1; i < std::min(threads, count); ++i) others.emplace_back(loop, i);
  loop(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace certus
