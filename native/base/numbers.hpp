// Weights, the exponentials of scores, in two kinds of numbers: as they are, or as their logarithms. The sums are
// written once for both. Numbers as they are come out of reach where scores span hundreds; logarithms never do, but a
// sum of them is slow.
#pragma once

#include <cmath>

#include "base/types.hpp"

namespace certus::latent {

inline constexpr double kLogTwo = 0.693147180559945309417;

struct Logarithm {
  double log = kNever<double>;
};

inline Logarithm operator*(Logarithm a, Logarithm b) { return {a.log + b.log}; }
inline Logarithm operator+(Logarithm a, Logarithm b) {
  const double most = a.log > b.log ? a.log : b.log, least = a.log > b.log ? b.log : a.log;
  return {least == kNever<double> ? most : most + std::log1p(std::exp(least - most))};
}
inline bool operator<(Logarithm a, Logarithm b) { return a.log < b.log; }

inline double log_of(double x) { return x > 0 ? std::log(x) : kNever<double>; }
inline double log_of(Logarithm x) { return x.log; }

template <class N>
inline constexpr N kZero = {};
template <class N>
inline constexpr N kOne = {};
template <>
inline constexpr double kOne<double> = 1;
template <>
inline constexpr Logarithm kOne<Logarithm> = {0};

// Brings the largest of some numbers near 1 by a power of two, which loses nothing; returns the exponent. The numbers
// were 2^exponent times as large. Zeros alone are left as they are.
inline Index rescale(double* x, Index count) {
  double most = 0;
  for (Index i = 0; i < count; ++i) most = x[i] > most ? x[i] : most;
  if (!(most > 0) || (most > 0x1p-64 && most < 0x1p64)) return 0;  // nothing there, or near enough
  int exponent;
  std::frexp(most, &exponent);
  const double factor = std::ldexp(1.0, -exponent);
  for (Index i = 0; i < count; ++i) x[i] *= factor;
  return exponent;
}
inline Index rescale(Logarithm*, Index) { return 0; }

}  // namespace certus::latent
