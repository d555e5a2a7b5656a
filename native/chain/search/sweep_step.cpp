#include "chain/search/sweep_step.hpp"

#include <algorithm>
#include <limits>

#include "base/widths.hpp"

namespace certus {
namespace {

// The state of a step on its way over the labels. What kTracked adds: the largest reach, and the sum of the nodes'
// squares, which shows NaN, +inf and numbers that are large (a false alarm costs a second look). What kCapped adds: the
// bound on labels that are not among the rows.
template <class S, int bytes, bool kTracked, bool kCapped>
struct Stepper {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  static constexpr Index W = Simd<S, bytes>::width, P = kLanes / W;  // vectors a unit of kLanes labels
  static constexpr int kUnits = bytes / 16;                          // at a time: eight vectors, or four
  const Steps<S>& at;
  const Index n;
  V most[P], sum[P], best[P];

  CERTUS_INLINE_MEMBER Stepper(const Steps<S>& steps, Index labels) : at(steps), n(labels) {
    for (Index p = 0; p < P; ++p) most[p] = kNever<S> - V{}, sum[p] = S{1} - V{};
  }

  // N units from label y on: their maxima stay in registers while the rows pass by.
  template <int N>
  CERTUS_INLINE_MEMBER void block(Index y, const S* node) {
    V x[N * P];
    for (Index v = 0; v < N * P; ++v) x[v] = at.rest + *reinterpret_cast<const U*>(at.enter + y + v * W);
    const S* const* const rows = at.rows;
    const Index count = at.count;
    for (Index i = 0; i < count; ++i) {
      const V from = at.alpha[i] - V{};
      const S* row = rows[i] + y;
      for (Index v = 0; v < N * P; ++v) x[v] = larger(from + *reinterpret_cast<const U*>(row + v * W), x[v]);
    }
    for (Index v = 0; v < N * P; ++v) {
      const V own = *reinterpret_cast<const U*>(node + v * W);
      if constexpr (kCapped) __builtin_prefetch(node + v * W + at.ahead);
      if constexpr (kTracked) {
        most[v % P] = larger(x[v] + own, most[v % P]);
        sum[v % P] += own * own;
      }
      if constexpr (kCapped) x[v] = larger(at.lift + *reinterpret_cast<const U*>(at.cap + y + v * W), x[v]);
      x[v] += own;
      *reinterpret_cast<U*>(at.reach + y + v * W) = x[v];
      best[v % P] = larger(x[v] + *reinterpret_cast<const U*>(at.other + y + v * W), best[v % P]);
    }
  }

  // The last `left` < kPad scores of the sentence's row, and zeros up to a whole block: all else is -inf there.
  static CERTUS_INLINE_MEMBER void fill_tail(S* tail, const S* node, Index left) {
    Index w = 0;
    for (; w + W <= left; w += W) *reinterpret_cast<V*>(tail + w) = *reinterpret_cast<const U*>(node + w);
    for (Index v = w; v < kPad; v += W) *reinterpret_cast<V*>(tail + v) = V{};
    for (; w < left; ++w) tail[w] = node[w];
  }

  CERTUS_INLINE_MEMBER void chunk(const Maxima<S>& maxima, Index c) {
    for (Index p = 0; p < P; ++p) best[p] = kNever<S> - V{};
    static_assert(kPad == 4 * kLanes && kChunk % kPad == 0);
    const Index end = std::min((c + 1) * kChunk, padded(n));
    for (Index y = c * kChunk; y < end; y += kPad) {
      alignas(64) S tail[kPad];
      const S* node = at.node + y;
      if (y + kPad > n) {
        fill_tail(tail, node, n - y);
        node = tail;
      }
      for (int u = 0; u < 4; u += kUnits) block<kUnits>(y + u * kLanes, node + u * kLanes);
    }
    V all = best[0];
    for (Index p = 0; p < P; ++p) {
      *reinterpret_cast<U*>(maxima.group + c * kLanes + p * W) = best[p];
      all = larger(best[p], all);
    }
    maxima.chunk[c] = fold_largest<S, bytes>(all);
  }
};

template <class S, int bytes, bool kCapped>
CERTUS_INLINE S step_all(const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious) {
  using V = typename Simd<S, bytes>::vector;
  constexpr Index W = Simd<S, bytes>::width, P = kLanes / W;
  Stepper<S, bytes, true, kCapped> stepper(steps, n);
  for (Index c = 0; c < chunk_count(n); ++c) stepper.chunk(maxima, c);
  V most = stepper.most[0], sum = stepper.sum[0];
  for (Index p = 1; p < P; ++p) most = larger(stepper.most[p], most), sum += stepper.sum[p];
  *suspicious = !(fold_lanes<S, bytes>(sum, [](auto a, auto b) __attribute__((always_inline)) { return a + b; }) <
                  std::numeric_limits<S>::infinity());
  return fold_largest<S, bytes>(most);
}
template <class S, int bytes>
CERTUS_INLINE S step_body(const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious) {
  return steps.cap ? step_all<S, bytes, true>(steps, maxima, n, suspicious)
                   : step_all<S, bytes, false>(steps, maxima, n, suspicious);
}

template <class S, int bytes>
CERTUS_INLINE void step_chunk_body(const Steps<S>& steps, const Maxima<S>& maxima, Index n, Index c) {
  Stepper<S, bytes, false, false> stepper(steps, n);
  stepper.chunk(maxima, c);
}

}  // namespace

#define CERTUS_BOTH(S)                                                                                                \
  CERTUS_BY_WIDTH(S, step, S, step_body, (const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious), \
                  (steps, maxima, n, suspicious))                                                                     \
  CERTUS_BY_WIDTH(void, step_chunk, S, step_chunk_body,                                                               \
                  (const Steps<S>& steps, const Maxima<S>& maxima, Index n, Index c), (steps, maxima, n, c))
CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

}  // namespace certus
