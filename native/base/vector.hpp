// The vector type and the macros that the kernels are written with.
#pragma once

#include "base/types.hpp"

// Clones need the dynamic loader's ifunc, which glibc has and macOS, Windows and musl have not;
// resolvers also run before AddressSanitizer is ready.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(CERTUS_NO_CLONES)
#define CERTUS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CERTUS_CLONES
#endif
#define CERTUS_INLINE static inline __attribute__((always_inline))
#define CERTUS_INLINE_MEMBER inline __attribute__((always_inline))

namespace certus {
namespace {

// One vector. The compiler splits it where the machine's registers are shorter: sums well, but maxima lane by lane, so
// that loops made of maxima are compiled for every width of registers (widths.hpp).
template <class S, int bytes = 64>
struct Simd {
  typedef S vector __attribute__((vector_size(bytes)));
  typedef S unaligned __attribute__((vector_size(bytes), aligned(alignof(S)), may_alias));
  static constexpr Index width = bytes / static_cast<Index>(sizeof(S));
};

template <class V>
CERTUS_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

// Folds a vector by halves, in an order that does not depend on the machine.
template <class S, int bytes, class Fold>
CERTUS_INLINE S fold_lanes(typename Simd<S, bytes>::vector v, Fold f) {
  if constexpr (bytes == 2 * sizeof(S)) {
    return f(v[0], v[1]);
  } else {
    typename Simd<S, bytes / 2>::vector halves[2];
    __builtin_memcpy(halves, &v, bytes);
    return fold_lanes<S, bytes / 2>(f(halves[0], halves[1]), f);
  }
}
template <class S, int bytes = 64>
CERTUS_INLINE S fold_largest(typename Simd<S, bytes>::vector v) {
  return fold_lanes<S, bytes>(v, [](auto a, auto b) __attribute__((always_inline)) { return larger(a, b); });
}

}  // namespace
}  // namespace certus
