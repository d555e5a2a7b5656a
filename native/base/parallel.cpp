#include "base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "base/time_limit.hpp"

namespace certus {

struct Group::Threads {
  void set_running(Index change) {
    const std::lock_guard lock(guard);
    running += change;
    if (running == 0) finished.notify_all();
  }
  void join() {
    for (std::thread& thread : all) thread.join();
    all.clear();
  }

  std::vector<std::thread> all;
  std::mutex guard;  // of what follows
  std::condition_variable finished;
  Index running = 0;
  std::exception_ptr failure;
};

Group::Group() : threads_(std::make_unique<Threads>()) {}

Group::~Group() { threads_->join(); }

bool Group::start(std::function<void()> work) {
  threads_->set_running(1);
  try {
    threads_->all.emplace_back([this, work = std::move(work), end = TimeLimit::current()] {
      interrupt::cancelled = &cancelled_;
      TimeLimit::inherit(end);
      attempt(work);
      threads_->set_running(-1);
    });
  } catch (const std::system_error&) {
    threads_->set_running(-1);
    return false;
  }
  return true;
}

void Group::attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(threads_->guard);
    if (!threads_->failure) threads_->failure = std::current_exception();
    cancelled_ = true;
  }
}

void Group::wait() {
  attempt([this] {
    std::unique_lock lock(threads_->guard);
    while (
        !threads_->finished.wait_for(lock, std::chrono::milliseconds(20), [this] { return threads_->running == 0; })) {
      lock.unlock();
      interrupt::look();
      lock.lock();
    }
  });
  threads_->join();
  if (threads_->failure) std::rethrow_exception(threads_->failure);
}

void parallel(Index count, Index threads, const std::function<void(Index, Index)>& work) {
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
