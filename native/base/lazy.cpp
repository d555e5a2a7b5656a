#include "base/lazy.hpp"

#include <chrono>

#include "base/interrupt.hpp"

namespace certus::lazy {
namespace {

// An address that tells threads apart.
const void* find_self() {
  static thread_local const char self = 0;
  return &self;
}

}  // namespace

bool Turns::begin() {
  const void* const self = find_self();
  {
    const std::lock_guard lock(guard_);
    if (!maker_ || maker_ == self) {
      maker_ = self;
      return true;
    }
  }
  const auto wait = [](void* context) {
    Turns& turns = *static_cast<Turns*>(context);
    std::unique_lock lock(turns.guard_);
    turns.changed_.wait_for(lock, std::chrono::milliseconds(20), [&] { return !turns.maker_; });
  };
  if (block) block(wait, this);
  else wait(this);
  interrupt::look();
  return false;
}

void Turns::end() {
  const std::lock_guard lock(guard_);
  maker_ = nullptr;
  changed_.notify_all();
}

}  // namespace certus::lazy
