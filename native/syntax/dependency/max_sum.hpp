// The inner loop of charts over spans.
#pragma once

#include "base/types.hpp"

namespace certus::syntax {

// max over k < count of a[k] + b[k]; -inf where count is 0.
double max_sum(const double* a, const double* b, Index count);

// The first k at which a[k] + b[k] is `sum`, which there is.
inline Index find_sum(const double* a, const double* b, double sum) {
  Index k = 0;
  while (a[k] + b[k] != sum) ++k;
  return k;
}

}  // namespace certus::syntax
