#include "base/sums.hpp"

#include "base/exponential.hpp"

namespace certus {

CERTUS_CLONES void accumulate_rows(double* sum, const double* weight, const double* rows, Index count, Index stride,
                                   Index width) {
  Index i = 0;
  for (; i + 4 <= count; i += 4) {  // four rows at a time spare three of four reads and writes of the sums
    const double a = weight[i], b = weight[i + 1], c = weight[i + 2], d = weight[i + 3];
    const double* row = rows + i * stride;
    if (a == 0 && b == 0 && c == 0 && d == 0) continue;
    for (Index j = 0; j < width; ++j)
      sum[j] = sum[j] + a * row[j] + b * row[stride + j] + c * row[2 * stride + j] + d * row[3 * stride + j];
  }
  for (; i < count; ++i)
    for (Index j = 0; j < width; ++j) sum[j] += weight[i] * rows[i * stride + j];
}

namespace {

// R rows at a time, since a single row would wait for each addition. The lanes are the same on every machine, and
// so are the sums.
template <int R>
CERTUS_INLINE void dot_some(double* out, const double* weight, const double* rows, Index stride, Index width) {
  Vec part[R] = {};
  Index j = 0;
  for (; j + kLanes <= width; j += kLanes) {
    const Vec w = load(weight + j);
    for (int r = 0; r < R; ++r) part[r] += load(rows + r * stride + j) * w;
  }
  for (int r = 0; r < R; ++r) {
    Vec p = part[r];
    for (Index c = j; c < width; ++c) p[0] += rows[r * stride + c] * weight[c];
    out[r] = ((p[0] + p[4]) + (p[1] + p[5])) + ((p[2] + p[6]) + (p[3] + p[7]));
  }
}

}  // namespace

CERTUS_CLONES void dot_rows(double* out, const double* weight, const double* rows, Index count, Index stride,
                            Index width) {
  Index i = 0;
  for (; i + 4 <= count; i += 4) dot_some<4>(out + i, weight, rows + i * stride, stride, width);
  for (; i < count; ++i) dot_some<1>(out + i, weight, rows + i * stride, stride, width);
}

}  // namespace certus
