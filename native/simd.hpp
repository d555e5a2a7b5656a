// The vector primitives every solver stands on, in float and double.
//
// Each is compiled for AVX-512, AVX2 and the baseline, and the right one is chosen when the
// library loads, so that a wheel built anywhere is fast everywhere.
#pragma once

#include <cstdint>

#include "types.hpp"

namespace certus {

// Rows are stored with padding, so that kernels may work on blocks of kPad elements to their end.
inline constexpr Index kPad = 64;
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

// Finding the few large elements of a row without reading it twice: labels are taken in chunks of kChunk; within
// a chunk, group g holds the labels g, g + kLanes, g + 2 kLanes, ... The maxima of groups and chunks tell where to look.
inline constexpr Index kLanes = 16;
inline constexpr Index kChunk = 8 * kLanes;
inline Index chunk_count(Index n) { return (n + kChunk - 1) / kChunk; }

template <class S>
struct Maxima {
  S* group;  // [chunks][kLanes]
  S* chunk;  // [chunks]
};

// One step from a few labels to all, with everything else folded into `rest`:
//   reach[y] = max(rest + enter[y], max_i alpha[i] + rows[i][y]) + node[y]
// All but `node` are padded with -inf.
template <class S>
struct Steps {
  S* reach;
  const S* node;
  const S* enter;
  S rest;
  const S* other;  // the maxima are those of reach + other
  const S* const* rows;
  const S* alpha;
  Index count;
};

// Takes the step to labels 0 .. n-1; returns the largest reach. *suspicious tells that `node` may hold NaN or +inf.
float step(const Steps<float>& steps, const Maxima<float>& maxima, Index n, bool* suspicious);
double step(const Steps<double>& steps, const Maxima<double>& maxima, Index n, bool* suspicious);

// Takes the step to the labels of chunk c only.
void step_chunk(const Steps<float>& steps, const Maxima<float>& maxima, Index n, Index c);
void step_chunk(const Steps<double>& steps, const Maxima<double>& maxima, Index n, Index c);

// Which lanes of a group row are at least `least`, as bits; *below becomes the largest of the others, if larger.
unsigned lanes_at_least(const float* group, float least, float* below);
unsigned lanes_at_least(const double* group, double least, double* below);

// sum[j] += weight[i] * rows[i * stride + j]   and   out[i] = sum_j rows[i * stride + j] * weight[j].
void accumulate_rows(double* sum, const double* weight, const double* rows, Index count, Index stride, Index width);
void dot_rows(double* out, const double* weight, const double* rows, Index count, Index stride, Index width);

}  // namespace certus
