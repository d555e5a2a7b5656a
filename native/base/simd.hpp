// The vector primitives every solver stands on, in float and double.
//
// Each is compiled for AVX-512, AVX2 and the baseline, and the right one is chosen when the
// library loads, so that a wheel built anywhere is fast everywhere.
#pragma once

#include <limits>

#include "base/types.hpp"

namespace certus {

// Rows are stored with padding, so that kernels may work on blocks of kPad elements to their end.
inline constexpr Index kPad = 64;
inline Index padded(Index n) { return (n + kPad - 1) / kPad * kPad; }

// Where few elements of a row matter, they are looked for in blocks that lie side by side: four whole cache lines. What
// is known of blocks is stored with padding, too.
template <class S>
inline constexpr Index kBlock = 256 / sizeof(S);
template <class S>
inline Index block_count(Index n) {
  return (n + kBlock<S> - 1) / kBlock<S>;
}
template <class S>
inline Index padded_blocks(Index n) {
  return (block_count<S>(n) + 15) / 16 * 16;
}

// acc[j] = max(acc[j], max_i alpha[i] + rows[i * stride + j])   for j < width, i < count.
// The rows are read from the first block to the last, or `backward`: a matrix that nearly fills a cache is best read
// one way and the other in turn, since a reader that always comes from the front finds just what it needs next gone.
void maxplus(float* acc, const float* alpha, const float* rows, Index count, Index stride, Index width,
             bool backward = false);
void maxplus(double* acc, const double* alpha, const double* rows, Index count, Index stride, Index width,
             bool backward = false);

// The same for several sentences at once, so that one read of the rows serves all of them:
// sentence b has its scores at alpha + b * width and its maxima at acc + b * width.
void maxplus_many(float* acc, const float* alpha, Index sentences, const float* rows, Index count, Index stride,
                  Index width);
void maxplus_many(double* acc, const double* alpha, Index sentences, const double* rows, Index count, Index stride,
                  Index width);

// out[j] = a[j] + b[j], where out is a third array; returns the largest of them (-inf when n is 0).
float add_max(float* out, const float* a, const float* b, Index n);
double add_max(double* out, const double* a, const double* b, Index n);

// x[j] -= shift.
void subtract(float* x, float shift, Index n);
void subtract(double* x, double shift, Index n);

// The first j with the largest a[j] + b[j * stride].
Index argmax_sum(const float* a, const float* b, Index stride, Index n);
Index argmax_sum(const double* a, const double* b, Index stride, Index n);

// The largest a[j] + b[j] among those that come after (value, index) in decreasing order of the
// sum, ties by increasing index; returns its index, or -1 when there is none. Sums are taken in the arrays' precision.
Index next_best_sum(const float* a, const float* b, Index stride, Index n, double value, Index index, double* found);
Index next_best_sum(const double* a, const double* b, Index stride, Index n, double value, Index index, double* found);

// The two largest a[j] + b[j * stride] in the order above; an index is -1 where there is none above -inf.
struct TwoBest {
  Index index[2];
  double value[2];
};
TwoBest two_best_sums(const float* a, const float* b, Index stride, Index n);
TwoBest two_best_sums(const double* a, const double* b, Index stride, Index n);

// The first element that is neither -inf nor of a magnitude up to `limit` (NaN and +inf are neither), or -1.
Index first_beyond(const float* x, Index n, float limit);
Index first_beyond(const double* x, Index n, double limit);
// The first element that is NaN or +inf, or -1.
inline Index first_invalid(const float* x, Index n) { return first_beyond(x, n, std::numeric_limits<float>::max()); }
inline Index first_invalid(const double* x, Index n) { return first_beyond(x, n, std::numeric_limits<double>::max()); }

// Whether all squares are within the range of S, which takes one operation per element to know: then every element is
// a number of a magnitude below kModerate. Many large ones may raise a false alarm.
template <class S>
inline constexpr S kModerate = sizeof(S) == 4 ? static_cast<S>(0x1p64) : static_cast<S>(0x1p512);
bool is_moderate(const float* x, Index n);
bool is_moderate(const double* x, Index n);

// The largest finite magnitude, or 0.
float largest_magnitude(const float* x, Index n);
double largest_magnitude(const double* x, Index n);

// The largest x[j], or -inf when n is 0; the same over a chosen few labels of a row.
float largest(const float* x, Index n);
double largest(const double* x, Index n);
float largest_at(const float* row, const Label* at, Index n);
double largest_at(const double* row, const Label* at, Index n);

// out[j] = row[at[j]].
void gather(float* out, const float* row, const Label* at, Index n);
void gather(double* out, const double* row, const Label* at, Index n);

// The j with min(in, behind + into[j]) + node[j] + min(out, ahead + onward[j]) >= least, in double, listed in `hits`;
// returns how many.
struct ReachBounds {
  double in, behind, out, ahead, least;
};
Index reaching(Label* hits, const float* node, const float* into, const float* onward, const ReachBounds& reach,
               Index n);
Index reaching(Label* hits, const double* node, const double* into, const double* onward, const ReachBounds& reach,
               Index n);

// One row of two max-plus products that share it, in double whatever the row is held in:
//   a[j] = max(a[j], from_a + x[j]),   b[j] = max(b[j], from_b + x[j]).
void raise_both(double* a, double* b, double from_a, double from_b, const float* x, Index n);
void raise_both(double* a, double* b, double from_a, double from_b, const double* x, Index n);

// One column of them: *most_a = max_j a[j] + x[j],   *most_b = max_j b[j] + x[j].
void largest_sums(const double* a, const double* b, const float* x, Index n, double* most_a, double* most_b);
void largest_sums(const double* a, const double* b, const double* x, Index n, double* most_a, double* most_b);

// For hypotheses whose scores are kept in double whatever the model's precision:
// acc[j] = max(acc[j], from + row[j]);
void raise(double* acc, double from, const float* row, Index n);
void raise(double* acc, double from, const double* row, Index n);
// the largest a[j] + b[j] (-inf when n is 0);
double max_sum(const float* a, const double* b, Index n);
double max_sum(const double* a, const double* b, Index n);
// and the j with from + row[j] >= least[j], listed in `hits`; returns how many.
Index reaching(Label* hits, double from, const float* row, const double* least, Index n);
Index reaching(Label* hits, double from, const double* row, const double* least, Index n);

}  // namespace certus
