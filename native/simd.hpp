// The vector primitives every solver stands on, in float and double.
//
// Each is compiled for AVX-512, AVX2 and the baseline, and the right one is chosen when the
// library loads, so that a wheel built anywhere is fast everywhere.
#pragma once

#include <cstdint>

#include "types.hpp"

namespace certus {

// Elements to which rows of prepared matrices are padded: one 64-byte vector of floats.
inline constexpr Index kPad = 16;
inline Index padded(Index n) { return (n + kPad - 1) / kPad * kPad; }

// acc[j] = max(acc[j], max_i alpha[i] + rows[i * stride + j])   for j < width, i < count.
void maxplus(float* acc, const float* alpha, const float* rows, Index count, Index stride, Index width);
void maxplus(double* acc, const double* alpha, const double* rows, Index count, Index stride, Index width);

// The same for several sentences at once, so that one read of the rows serves all of them:
// sentence b has its scores at alpha + b * width and its maxima at acc + b * width.
void maxplus_many(float* acc, const float* alpha, Index sentences, const float* rows, Index count, Index stride,
                  Index width);
void maxplus_many(double* acc, const double* alpha, Index sentences, const double* rows, Index count,
                  Index stride, Index width);

// out[j] = a[j] + b[j]; returns the largest of them (-inf when n is 0).
float add_max(float* out, const float* a, const float* b, Index n);
double add_max(double* out, const double* a, const double* b, Index n);

// x[j] -= shift.
void subtract(float* x, float shift, Index n);
void subtract(double* x, double shift, Index n);

// The first j with the largest a[j] + b[j * stride].
Index argmax_sum(const float* a, const float* b, Index stride, Index n);
Index argmax_sum(const double* a, const double* b, Index stride, Index n);

// The largest a[j] + b[j] among those that come after (value, index) in decreasing order of the
// sum, ties by increasing index; returns its index, or -1 when there is none.
Index next_best_sum(const float* a, const float* b, Index stride, Index n, double value, Index index, double* found);
Index next_best_sum(const double* a, const double* b, Index stride, Index n, double value, Index index,
                    double* found);

// The first element that is NaN or +inf, or -1.
Index first_invalid(const float* x, Index n);
Index first_invalid(const double* x, Index n);

// Groups for finding the few large elements of a row without reading it twice. Labels are taken in
// chunks of kGroup * kLanes; within a chunk, group g holds the labels g, g + kLanes, g + 2 kLanes, ...
inline constexpr Index kLanes = 16;
inline constexpr Index kGroup = 8;
inline Index group_count(Index n) { return (n + kLanes * kGroup - 1) / (kLanes * kGroup) * kLanes; }

// groups[g] = the largest row[y] + potential[y] over the labels y of group g (-inf for an empty one).
// Returns the largest of all; *suspicious tells that the row may hold NaN or +inf.
float group_max(float* groups, const float* row, const float* potential, Index n, bool* suspicious);
double group_max(double* groups, const double* row, const double* potential, Index n, bool* suspicious);

// For hypotheses whose scores are kept in double whatever the model's precision:
// acc[j] = max(acc[j], from + row[j]);
void raise(double* acc, double from, const float* row, Index n);
void raise(double* acc, double from, const double* row, Index n);
// the largest x[j], the largest a[j] + b[j] (-inf when n is 0);
double largest(const double* x, Index n);
double max_sum(const float* a, const double* b, Index n);
double max_sum(const double* a, const double* b, Index n);
// and the j with from + row[j] >= least[j], listed in `hits`; returns how many.
Index reaching(Label* hits, double from, const float* row, const double* least, Index n);
Index reaching(Label* hits, double from, const double* row, const double* least, Index n);

// sum[j] += weight[i] * rows[i * stride + j]   and   out[i] = sum_j rows[i * stride + j] * weight[j].
void accumulate_rows(double* sum, const double* weight, const double* rows, Index count, Index stride, Index width);
void dot_rows(double* out, const double* weight, const double* rows, Index count, Index stride, Index width);

}  // namespace certus
