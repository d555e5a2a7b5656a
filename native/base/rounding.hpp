// When a bound meets a score in spite of rounding, at the scale of the scores that matter.
//
// A search adds scores and multipliers up to the scale of the problem: a gap of kRounding times this scale counts as
// rounding. Where scores of very different sizes meet (penalties of -1e12 that stand for "forbidden"),
// that may be more than the differences between answers. A solver then leaves out the scores that are in no answer as
// good as the one it has, and searches again at the smaller scale: until the scale is at most kMixed times the sum of
// the answer's own scores without their signs, or does not fall.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace certus {

inline constexpr double kRounding = 1e-13;
inline constexpr double kMixed = 1024;

// The largest finite magnitude of numbers of which some may be -inf.
inline double find_magnitude(const double* x, Index count) {
  double most[4] = {0, 0, 0, 0};
  const auto look = [&](Index i, double& best) {
    const double size = std::abs(x[i]);
    best = size > best && size < INFINITY ? size : best;
  };
  Index i = 0;
  for (; i + 4 <= count; i += 4)
    for (Index k = 0; k < 4; ++k) look(i + k, most[k]);
  for (; i < count; ++i) look(i, most[0]);
  return std::max({most[0], most[1], most[2], most[3]});
}

inline bool are_whole(const double* x, Index count) {
  return std::all_of(x, x + count, [](double one) { return std::isinf(one) || one == std::floor(one); });
}

// The gap that counts as rounding. Whole numbers differ by 1 at least: is_whole() is asked where that is less, and the
// rounding of multipliers less still.
template <class IsWhole>
double find_allowance(double scale, const IsWhole& is_whole) {
  const double allowance = kRounding * scale;
  return allowance > 0.25 && scale < 0x1p48 && is_whole() ? 0.25 : allowance;
}

}  // namespace certus
