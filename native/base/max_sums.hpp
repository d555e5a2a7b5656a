// Max-plus sums of a row of doubles and a row of floats.
#pragma once

#include <cstddef>

#include "base/types.hpp"

namespace certus {

// max_i x[i] + y[i]
inline double largest_sum(const double* __restrict x, const float* __restrict y, std::size_t n) {
  double most = kNever<double>;
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = x[i] + static_cast<double>(y[i]);
    most = sum > most ? sum : most;
  }
  return most;
}

// x[i] = max(x[i], y[i] + z)
inline void raise(double* __restrict x, const float* __restrict y, double z, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = z + static_cast<double>(y[i]);
    x[i] = sum > x[i] ? sum : x[i];
  }
}

}  // namespace certus
