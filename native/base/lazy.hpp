// Values that are made on first use and shared by threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/interrupt.hpp"

namespace certus {

namespace lazy {

// Calls wait(context), which blocks, without a lock of the caller's runtime that the awaited thread may need. Whoever
// loads the kernels sets it once; without it, wait(context) is called as is.
inline void (*block)(void (*wait)(void*), void* context) = nullptr;

}  // namespace lazy

// The first thread that asks for the value makes it, without a lock; threads that ask meanwhile wait. A thread that
// waits keeps nothing that the maker may need (see lazy::block), so neither waits for the other, and it can be
// interrupted. If making throws, the next thread makes the value. Once it is there, asking costs the read of an atomic.
//
// The code that makes the value may be interrupted by a signal handler that asks for the value on the same thread: the
// handler then makes it, and what the outer call makes is dropped.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;

  // The value, or null before it is made.
  T* find() const { return found_.load(std::memory_order_acquire); }

  // The value; make() returns it as a std::unique_ptr<T>.
  template <class Make>
  T& get(const Make& make) const {
    if (T* const found = find()) [[likely]]
      return *found;
    return wait_or_make(make);
  }

 private:
  template <class Make>
  [[gnu::noinline, gnu::cold]] T& wait_or_make(const Make& make) const {
    while (!begin())
      if (T* const found = find()) return *found;
    const Turn turn{*this};
    if (T* const found = find()) return *found;
    std::unique_ptr<T> made = make();
    const std::lock_guard lock(guard_);
    if (!value_) value_ = std::move(made), found_.store(value_.get(), std::memory_order_release);
    return *value_;
  }

  // Whether it is this thread's turn to make the value; otherwise waits for a while, or until it is there.
  bool begin() const {
    const std::thread::id self = std::this_thread::get_id();
    {
      const std::lock_guard lock(guard_);
      if (maker_ == std::thread::id() || maker_ == self) {
        maker_ = self;
        return true;
      }
    }
    const auto wait = [](void* context) {
      const Lazy& lazy = *static_cast<const Lazy*>(context);
      std::unique_lock lock(lazy.guard_);
      lazy.changed_.wait_for(lock, std::chrono::milliseconds(20), [&] { return lazy.maker_ == std::thread::id(); });
    };
    void* const context = const_cast<Lazy*>(this);
    if (lazy::block) lazy::block(wait, context);
    else wait(context);
    interrupt::look();
    return false;
  }

  struct Turn {
    const Lazy& lazy;
    ~Turn() {
      const std::lock_guard lock(lazy.guard_);
      lazy.maker_ = {};
      lazy.changed_.notify_all();
    }
  };

  mutable std::mutex guard_;  // of what follows; held for a moment only
  mutable std::condition_variable changed_;
  mutable std::thread::id maker_;
  mutable std::unique_ptr<T> value_;
  mutable std::atomic<T*> found_ = nullptr;
};

}  // namespace certus
