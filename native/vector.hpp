// The vector type and the macros that the kernels are written with.
#pragma once

#include "types.hpp"

// Clones need the dynamic loader's ifunc, which glibc has and macOS, Windows and musl have not;
// resolvers also run before AddressSanitizer is ready.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(CERTUS_NO_CLONES)
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
template <class S, class Fold>
CERTUS_INLINE S fold(typename Simd<S>::vector v, Fold f) {
  constexpr Index W = Simd<S>::width;
  typedef S half __attribute__((vector_size(32)));
  typedef S quarter __attribute__((vector_size(16)));
  struct Halves {
    half low, high;
  };
  struct Quarters {
    quarter low, high;
  };
  const auto halves = __builtin_bit_cast(Halves, v);
  const auto quarters = __builtin_bit_cast(Quarters, f(halves.low, halves.high));
  const quarter q = f(quarters.low, quarters.high);
  if constexpr (W == 16) return f(f(q[0], q[2]), f(q[1], q[3]));
  else return f(q[0], q[1]);
}

}  // namespace
}  // namespace certus
