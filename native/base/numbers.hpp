// The kinds of numbers in which sums over paths are taken. A kind says which number is zero and which is one, and how a
// row of numbers is kept in range:
//
//   PowersOfTwo    weights (exponentials of scores) as they are, scaled by powers of two, which round nothing;
//   Logarithms     logarithms of weights, which are never out of range, but slow to add;
//   RelativeLogs   logarithms of weights, relative to the largest of the row;
//   MaxPlus        scores of which the largest counts, instead of their sum;
//   PlainLogs      logarithms of weights, as doubles, which steps of their own add.
//
// Kind::rescale(row, count, total) brings a row in range, adds to the total what was taken out of it, and tells whether
// anything but zeros is in the row. Sums whose rows are divided by their own sum have a LogProduct as their total, and
// do so in kernels of their own, in one pass with the multiplication by the nodes.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/log_sums.hpp"
#include "base/simd.hpp"

namespace certus {

inline constexpr double kLogTwo = 0.693147180559945309417;

// What was taken out of numbers: 2^exponent.
struct Exponent {
  Index exponent = 0;
  double log() const { return static_cast<double>(exponent) * kLogTwo; }
};

// The logarithm of a product, as a sum of logarithms.
struct LogTotal {
  double sum = 0;
  double log() const { return sum; }
};

// The log of a product of many factors, each within 1e-270 and 1e270, with few logarithms.
struct LogProduct {
  double logs = 0, factor = 1;

  void times(double x) {
    factor *= x;
    if (factor < 1e-30 || factor > 1e30) logs += std::log(factor), factor = 1;
  }
  double log() const { return logs + std::log(factor); }
};

struct PowersOfTwo {
  using Value = double;
  using Total = Exponent;
  static constexpr double zero = 0, one = 1;

  // Brings the number of the largest magnitude near 1, unless it is near enough. Numbers may be negative.
  static bool rescale(double* x, Index count, Total& total) {
    double most = 0;
    for (Index i = 0; i < count; ++i) most = std::abs(x[i]) > most ? std::abs(x[i]) : most;
    if (!(most > 0)) return false;
    if ((most > 0x1p-64 && most < 0x1p64) || !std::isfinite(most)) return true;
    int exponent;
    std::frexp(most, &exponent);
    exponent = std::max(exponent, -1000);  // what is smaller comes up over the next steps; its factor would overflow
    const double factor = std::ldexp(1.0, -exponent);
    for (Index i = 0; i < count; ++i) x[i] *= factor;
    total.exponent += exponent;
    return true;
  }
};

struct Logarithms {
  using Value = Logarithm;
  using Total = Exponent;
  static constexpr Logarithm zero = {}, one = {0};

  static bool rescale(Logarithm*, Index, Total&) { return true; }
};

struct RelativeLogs {
  using Value = double;
  using Total = LogTotal;
  static constexpr double zero = kNever<double>, one = 0;

  static bool rescale(double* x, Index count, Total& total) {
    const double most = largest(x, count);
    if (most == zero) return false;
    subtract(x, most, count);
    total.sum += most;
    return true;
  }
};

struct MaxPlus {
  using Value = double;
  using Total = LogTotal;
  static constexpr double zero = kNever<double>, one = 0;

  static bool rescale(double*, Index, Total&) { return true; }
};
using PlainLogs = MaxPlus;  // what rows of logarithms want that are left as they are

}  // namespace certus
