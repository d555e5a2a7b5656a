// Values that are made on first use and shared by threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace certus {

namespace lazy {

// Calls wait(context), which blocks, without a lock of the caller's runtime that the awaited thread may need. Whoever
// loads the kernels sets it once; without it, wait(context) is called as is.
inline void (*block)(void (*wait)(void*), void* context) = nullptr;

// Whose turn it is to make a value.
class Turns {
 public:
  // Whether it is this thread's turn; otherwise waits for a while, or until it may be.
  bool begin();
  void end();
  std::mutex& guard() { return guard_; }  // held for a moment only

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  const void* maker_ = nullptr;  // the thread whose turn it is
};

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
    while (!turns_.begin())
      if (T* const found = find()) return *found;
    const Turn turn{turns_};
    if (T* const found = find()) return *found;
    std::unique_ptr<T> made = make();
    const std::lock_guard lock(turns_.guard());
    if (!value_) value_ = std::move(made), found_.store(value_.get(), std::memory_order_release);
    return *value_;
  }

  struct Turn {
    lazy::Turns& turns;
    ~Turn() { turns.end(); }
  };

  mutable lazy::Turns turns_;
  mutable std::unique_ptr<T> value_;
  mutable std::atomic<T*> found_ = nullptr;
};

}  // namespace certus
