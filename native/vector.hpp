// The vector type and the macros that the kernels are written with.
#pragma once

#include "types.hpp"

// Clones need the dynamic loader's ifunc, which glibc has and macOS, Windows and musl have not;
// resolvers also run before AddressSanitizer is ready.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(CERTUS_NO_CLONES)
#define CERTUS_HAS_CLONES 1
#define CERTUS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CERTUS_CLONES
#endif
#define CERTUS_INLINE static inline __attribute__((always_inline))
#define CERTUS_INLINE_MEMBER inline __attribute__((always_inline))

namespace certus {
namespace {

// One 64-byte vector; the compiler splits it where the machine's registers are shorter.
template <class S>
struct Simd {
  typedef S vector __attribute__((vector_size(64)));
  typedef S unaligned __attribute__((vector_size(64), aligned(alignof(S)), may_alias));
  static constexpr Index width = 64 / static_cast<Index>(sizeof(S));
};

template <class V>
CERTUS_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

// Folds a vector by halves, in an order that does not depend on the machine.
template <class Fold>
CERTUS_INLINE float fold_lanes(Simd<float>::vector v, Fold f) {
  const auto half = f(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                      __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto quarter = f(__builtin_shufflevector(half, half, 0, 1, 2, 3), __builtin_shufflevector(half, half, 4, 5, 6, 7));
  const auto pair = f(quarter, __builtin_shufflevector(quarter, quarter, 2, 3, 2, 3));
  const auto one = f(pair, __builtin_shufflevector(pair, pair, 1, 1, 1, 1));
  return one[0];
}
template <class Fold>
CERTUS_INLINE double fold_lanes(Simd<double>::vector v, Fold f) {
  const auto half = f(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7));
  const auto pair = f(__builtin_shufflevector(half, half, 0, 1), __builtin_shufflevector(half, half, 2, 3));
  const auto one = f(pair, __builtin_shufflevector(pair, pair, 1, 1));
  return one[0];
}
template <class S>
CERTUS_INLINE S fold_largest(typename Simd<S>::vector v) {
  return fold_lanes(v, [](auto a, auto b) __attribute__((always_inline)) { return larger(a, b); });
}

}  // namespace
}  // namespace certus
