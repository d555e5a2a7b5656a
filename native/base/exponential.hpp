// Vectors of doubles: loading, storing, adding up their lanes, exponentials, logarithms, and sums by logarithms.
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
template <int bytes>
CERTUS_INLINE typename Simd<double, bytes>::vector exp_lanes(typename Simd<double, bytes>::vector x) {
  using V = typename Simd<double, bytes>::vector;
  using Bits = typename Simd<std::int64_t, bytes>::vector;
  constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer, which stands in the low bits
  const V shifted = x * 0x1.71547652b82fep0 + kShift, n = shifted - kShift;
  const V r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
  constexpr double kTerms[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  V sum = kTerms[0] - V{};
  for (int k = 1; k < 14; ++k) sum = sum * r + kTerms[k];
  return (V)((Bits)sum + ((Bits)shifted << 52));
}
CERTUS_INLINE Vec exp_vector(Vec x) { return exp_lanes<64>(x); }

// log(x) for normal numbers above 0, to within 1e-15 or a unit in the last place: x = 2^n m with m between the square
// roots of 1/2 and 2, and the series of log(m) = 2 artanh((m - 1) / (m + 1)) to the 19th power.
template <int bytes>
CERTUS_INLINE typename Simd<double, bytes>::vector log_lanes(typename Simd<double, bytes>::vector x) {
  using V = typename Simd<double, bytes>::vector;
  using Bits = typename Simd<std::int64_t, bytes>::vector;
  constexpr std::int64_t kRoot = 0x3FE6A09E667F3BCD;  // the bits of the root of 1/2
  const Bits bits = (Bits)x, n = (bits - kRoot) >> 52;
  const V m = (V)(bits - (n << 52));
  const V s = (m - 1) / (m + 1), square = s * s;
  V sum = V{} + 1.0 / 19;
  for (int k = 17; k > 0; k -= 2) sum = sum * square + 1.0 / k;
  return __builtin_convertvector(n, V) * 0x1.62e42fefa39efp-1 + 2 * s * sum;
}

// In each lane the sum of many numbers that are known by their logarithms; see LogSum.
template <int bytes>
class LogSums {
 public:
  using V = typename Simd<double, bytes>::vector;

  CERTUS_INLINE_MEMBER void add(V log) {
    const V gap = log - most_, down = gap > 0 ? -gap : gap;
    const V share = exp_lanes<bytes>(down > kFar ? down : V{} + kFar);
    sum_ = gap > 0 ? sum_ * share + 1 : sum_ + share;
    most_ = larger(most_, log);
  }
  CERTUS_INLINE_MEMBER V log() const {
    const V most = most_ + log_lanes<bytes>(larger(sum_, V{} + 1));
    return sum_ < 0.5 ? V{} + kNever<double> : most;
  }

 private:
  static constexpr double kFar = -700;  // shares below exp(kFar) count as exp(kFar)

  // Before the first number that is not 0, gaps are NaN or +inf: both take the branch that leaves sum_ below 0.5, or
  // starts it at 1.
  V most_ = V{} + kNever<double>, sum_ = V{};
};

}  // namespace
}  // namespace certus
