// The inner loop of charts over spans.
#pragma once

#include "base/types.hpp"

namespace certus::syntax {

// max over k < count of a[k] + b[k]; -inf where count is 0.
double max_sum(const double* a, const double* b, Index count);

}  // namespace certus::syntax
