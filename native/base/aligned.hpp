// Arrays that start at a cache line, and rows that are whole vectors.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "base/types.hpp"

namespace certus {

// The length of a row in whole vectors of doubles: the lanes past the last of its elements hold zeros.
inline Index whole_vectors(Index elements) { return (elements + 7) / 8 * 8; }

// Memory that starts at a cache line.
template <class X>
struct AlignedAllocator {
  using value_type = X;
  AlignedAllocator() = default;
  template <class Y>
  AlignedAllocator(const AlignedAllocator<Y>&) {}
  X* allocate(std::size_t n) { return static_cast<X*>(::operator new(n * sizeof(X), std::align_val_t{64})); }
  void deallocate(X* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
  bool operator==(const AlignedAllocator&) const = default;
};
using Doubles = std::vector<double, AlignedAllocator<double>>;

}  // namespace certus
