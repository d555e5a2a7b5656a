// Scratch memory that lives as long as its thread, so that decoding allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "base/types.hpp"

namespace certus {

// Hands out aligned, uninitialised arrays one after the other; all are given back together when the
// Scope that was open ends. Memory beyond `kKeep` goes back to the system at that point.
class Arena {
 public:
  template <class X>
  X* get(Index count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(X) + kAlign - 1) / kAlign * kAlign;
    if (used_ + bytes + kGap > size_) grow(bytes + kGap);
    std::byte* out = block_.get() + used_;
    used_ += bytes + kGap;
#if defined(__SANITIZE_ADDRESS__)  // arrays lie side by side here: make a step over the end of one visible
    const std::size_t exact = static_cast<std::size_t>(count) * sizeof(X);
    ASAN_UNPOISON_MEMORY_REGION(out, exact);
    ASAN_POISON_MEMORY_REGION(out + exact, bytes + kGap - exact);
#endif
    return reinterpret_cast<X*>(out);
  }
  template <class X>
  X* get(Index count, X value) {
    X* out = get<X>(count);
    std::fill(out, out + count, value);
    return out;
  }

  class Scope {
   public:
    explicit Scope(Arena& arena)
        : arena_(arena), outer_(arena.depth_++), blocks_(arena.full_.size()), used_(arena.used_) {}
    ~Scope() {
      --arena_.depth_;
      if (outer_ == 0) arena_.release();
      else if (arena_.full_.size() == blocks_) arena_.used_ = used_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    int outer_;
    std::size_t blocks_, used_;
  };

  static Arena& local() {
    thread_local Arena arena;
    return arena;
  }

 private:
  static constexpr std::size_t kAlign = 64;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::size_t kGap = kAlign;
#else
  static constexpr std::size_t kGap = 0;
#endif
  static constexpr std::size_t kKeep = std::size_t{32} << 20;

  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kAlign}); }
  };
  using Block = std::unique_ptr<std::byte[], Free>;

  void grow(std::size_t bytes) {
    if (block_) full_.push_back(std::move(block_));
    size_ = std::max({bytes, 2 * size_, std::size_t{1} << 16});
    block_ = Block(new (std::align_val_t{kAlign}) std::byte[size_]);
    used_ = 0;
  }
  void release() {
    full_.clear();
    used_ = 0;
    if (size_ > kKeep) block_.reset(), size_ = 0;
  }

  Block block_;
  std::vector<Block> full_;
  std::size_t size_ = 0, used_ = 0;
  int depth_ = 0;
};

// The arena of this thread; what is taken from it here is given back in the end.
class LocalArena {
 public:
  template <class X, class... Value>
  X* get(Index count, Value... value) const {
    return arena_.get<X>(count, value...);
  }
  operator Arena&() const { return arena_; }

 private:
  Arena& arena_ = Arena::local();
  Arena::Scope scope_{arena_};
};

}  // namespace certus
