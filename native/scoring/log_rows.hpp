// Rows of numbers that are known by their logarithms, and what is done to all numbers of a row beside each other.
#pragma once

#include "base/types.hpp"

namespace certus::scoring {

// out[i] = exp(x[i] - shift), and 0 for -inf. What is far below the shift stays above 0: bounds still hold.
void exponentiate_row(const double* x, double shift, Index n, double* out);
// x[i] = log(exp(x[i]) + sums[i] exp(shift))
void add_logs_of(const double* sums, double shift, Index n, double* x);
// x[i] += z y[i]
void add_multiple(const double* y, double z, Index n, double* x);
// The same of two rows, with a number for each.
void add_multiples(const double* y, double z, double other_z, Index n, double* x, double* other);

}  // namespace certus::scoring
