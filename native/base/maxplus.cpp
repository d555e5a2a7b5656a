#include <algorithm>

#include "base/simd.hpp"
#include "base/widths.hpp"

namespace certus {
namespace {

// N vectors of maxima stay in registers while `count` rows stream by. Narrow tiles take two rows at a time, so that
// one maximum need not wait for the other.
template <class S, int bytes, int N>
CERTUS_INLINE void maxplus_tile(S* acc, const S* alpha, const S* rows, Index count, Index stride) {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  constexpr Index W = Simd<S, bytes>::width;
  constexpr Index kWays = N <= 4 ? 2 : 1;
  V best[N], other[N];
  for (int n = 0; n < N; ++n) best[n] = *reinterpret_cast<const U*>(acc + n * W), other[n] = best[n];
  Index i = 0;
  for (; i + kWays <= count; i += kWays) {
    const V from = alpha[i] - V{};
    for (int n = 0; n < N; ++n)
      best[n] = larger(from + *reinterpret_cast<const U*>(rows + i * stride + n * W), best[n]);
    if constexpr (kWays == 2) {
      const V next = alpha[i + 1] - V{};
      for (int n = 0; n < N; ++n)
        other[n] = larger(next + *reinterpret_cast<const U*>(rows + (i + 1) * stride + n * W), other[n]);
    }
  }
  for (; i < count; ++i) {
    const V from = alpha[i] - V{};
    for (int n = 0; n < N; ++n)
      best[n] = larger(from + *reinterpret_cast<const U*>(rows + i * stride + n * W), best[n]);
  }
  for (int n = 0; n < N; ++n) *reinterpret_cast<U*>(acc + n * W) = kWays == 2 ? larger(other[n], best[n]) : best[n];
}

template <class S, int bytes>
CERTUS_INLINE void maxplus_columns(S* acc, const S* alpha, const S* rows, Index count, Index stride, Index width) {
  constexpr Index W = Simd<S, bytes>::width;
  Index j = 0;
  for (; j + 8 * W <= width; j += 8 * W) maxplus_tile<S, bytes, 8>(acc + j, alpha, rows + j, count, stride);
  for (; j + 4 * W <= width; j += 4 * W) maxplus_tile<S, bytes, 4>(acc + j, alpha, rows + j, count, stride);
  if (j + 3 * W <= width) {
    maxplus_tile<S, bytes, 3>(acc + j, alpha, rows + j, count, stride);
    j += 3 * W;
  }
  for (; j + W <= width; j += W) maxplus_tile<S, bytes, 1>(acc + j, alpha, rows + j, count, stride);
  if (j == width) return;
  for (Index i = 0; i < count; ++i)  // only rows that could not be padded end here
    for (Index c = j; c < width; ++c) acc[c] = larger(alpha[i] + rows[i * stride + c], acc[c]);
}

inline constexpr Index kRowBlock = 64;  // rows a tile streams before its maxima are written back

template <class S, int bytes>
CERTUS_INLINE void maxplus_body(S* acc, const S* alpha, const S* rows, Index count, Index stride, Index width,
                                bool backward) {
  const Index blocks = (count + kRowBlock - 1) / kRowBlock;
  for (Index b = 0; b < blocks; ++b) {
    const Index i = (backward ? blocks - 1 - b : b) * kRowBlock;
    maxplus_columns<S, bytes>(acc, alpha + i, rows + i * stride, std::min(kRowBlock, count - i), stride, width);
  }
}

// A block of rows by 8 vectors (32 KiB at most) stays in the first-level cache while every sentence uses it.
template <class S, int bytes>
CERTUS_INLINE void maxplus_many_body(S* acc, const S* alpha, Index sentences, const S* rows, Index count, Index stride,
                                     Index width) {
  constexpr Index W = 8 * Simd<S, bytes>::width;
  for (Index i = 0; i < count; i += kRowBlock) {
    const Index n = std::min(kRowBlock, count - i);
    for (Index j = 0; j < width; j += W)
      for (Index b = 0; b < sentences; ++b)
        maxplus_columns<S, bytes>(acc + b * width + j, alpha + b * width + i, rows + i * stride + j, n, stride,
                                  std::min(W, width - j));
  }
}

}  // namespace

#define CERTUS_BOTH(S)                                                                                               \
  CERTUS_BY_WIDTH(void, maxplus, S, maxplus_body,                                                                    \
                  (S * acc, const S* alpha, const S* rows, Index count, Index stride, Index width, bool backward),   \
                  (acc, alpha, rows, count, stride, width, backward))                                                \
  CERTUS_BY_WIDTH(void, maxplus_many, S, maxplus_many_body,                                                          \
                  (S * acc, const S* alpha, Index sentences, const S* rows, Index count, Index stride, Index width), \
                  (acc, alpha, sentences, rows, count, stride, width))
CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

}  // namespace certus
