// Products of a vector and a matrix of weights, for marginals.
#pragma once

#include "base/types.hpp"

namespace certus {

// sum[j] += weight[i] * rows[i * stride + j]   and   out[i] = sum_j rows[i * stride + j] * weight[j].
void accumulate_rows(double* sum, const double* weight, const double* rows, Index count, Index stride, Index width);
void dot_rows(double* out, const double* weight, const double* rows, Index count, Index stride, Index width);

}  // namespace certus
