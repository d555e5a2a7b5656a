// Vectors kept in the range of floating point by powers of two, which round nothing.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace certus::refinement {

// Scales a vector by a power of two so that its largest entry is in [1/2, 1); returns the exponent taken out.
inline Index normalise(double* x, Index n) {
  double most = 0;
  for (Index i = 0; i < n; ++i) most = std::max(most, std::abs(x[i]));
  if (!(most > 0) || !std::isfinite(most)) return 0;
  int exponent;
  std::frexp(most, &exponent);
  exponent = std::max(exponent, -1000);  // what is smaller comes up over the next steps; its factor would overflow
  const double scale = std::ldexp(1.0, -exponent);
  for (Index i = 0; i < n; ++i) x[i] *= scale;
  return exponent;
}

}  // namespace certus::refinement
