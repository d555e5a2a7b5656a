// Vectors of doubles: loading, storing, adding up their lanes, and the exponential.
#pragma once

#include "base/vector.hpp"

namespace certus {
namespace {

using Vec = Simd<double>::vector;
inline constexpr Index kLanes = Simd<double>::width;

CERTUS_INLINE Vec load(const double* p) { return *reinterpret_cast<const Simd<double>::unaligned*>(p); }
CERTUS_INLINE void store(double* p, Vec v) { *reinterpret_cast<Simd<double>::unaligned*>(p) = v; }
CERTUS_INLINE double add_lanes(Vec v) {
  return fold_lanes<double, 64>(v, [](auto a, auto b) __attribute__((always_inline)) { return a + b; });
}

// exp(x) for x from -700 to 700, to within two units in the last place: x = n log 2 + r with |r| <= log(2) / 2, and
// the Taylor series of exp(r) to the 13th power, whose remainder is below 2^-57.
CERTUS_INLINE Vec exp_vector(Vec x) {
  typedef std::int64_t Bits __attribute__((vector_size(64)));
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer, which stands in the low bits
  const Vec shifted = x * 0x1.71547652b82fep0 + kShift, n = shifted - kShift;
  const Vec r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
  constexpr double kTerms[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  Vec sum = kTerms[0] - Vec{};
  for (int k = 1; k < 14; ++k) sum = sum * r + kTerms[k];
  return (Vec)((Bits)sum + ((Bits)shifted << 52));
}

}  // namespace
}  // namespace certus
