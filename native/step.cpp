#include "step.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <limits>

#include "vector.hpp"

namespace certus {
namespace {

// The state of a step on its way over the labels. What kTracked adds: the largest reach, and a sum that shows
// NaN and +inf (a false alarm, by overflow, costs a second look).
template <class S, bool kTracked>
struct Stepper {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  static constexpr Index W = Simd<S>::width, P = kLanes / W;  // vectors a unit of kLanes labels
  const Steps<S>& at;
  const Index n;
  V most[P], sum[P], best[P];

  CERTUS_INLINE_MEMBER Stepper(const Steps<S>& steps, Index labels) : at(steps), n(labels) {
    for (Index p = 0; p < P; ++p) most[p] = kNever<S> - V{}, sum[p] = V{};
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
      x[v] += *reinterpret_cast<const U*>(node + v * W);
      *reinterpret_cast<U*>(at.reach + y + v * W) = x[v];
      best[v % P] = larger(x[v] + *reinterpret_cast<const U*>(at.other + y + v * W), best[v % P]);
      if constexpr (kTracked) {
        most[v % P] = larger(x[v], most[v % P]);
        sum[v % P] += x[v];
      }
    }
  }

  // The last `left` < kPad scores of the sentence's row, and -inf up to a whole block.
  static CERTUS_INLINE_MEMBER void fill_tail(S* tail, const S* node, Index left) {
    Index w = 0;
    for (; w + W <= left; w += W) *reinterpret_cast<V*>(tail + w) = *reinterpret_cast<const U*>(node + w);
    for (Index v = w; v < kPad; v += W) *reinterpret_cast<V*>(tail + v) = kNever<S> - V{};
    for (; w < left; ++w) tail[w] = node[w];
  }

  CERTUS_INLINE_MEMBER void chunk(const Maxima<S>& maxima, Index c) {
    for (Index p = 0; p < P; ++p) best[p] = kNever<S> - V{};
    static_assert(kPad == 4 * kLanes && kChunk % kPad == 0);
    const Index end = std::min((c + 1) * kChunk, padded(n));
    for (Index y = c * kChunk; y < end; y += kPad) {
      if (y + kPad <= n) {
        block<4>(y, at.node + y);
      } else {
        alignas(64) S tail[kPad];
        fill_tail(tail, at.node + y, n - y);
        block<4>(y, tail);
      }
    }
    V all = best[0];
    for (Index p = 0; p < P; ++p) {
      *reinterpret_cast<U*>(maxima.group + c * kLanes + p * W) = best[p];
      all = larger(best[p], all);
    }
    maxima.chunk[c] = fold_largest<S>(all);
  }
};

template <class S>
CERTUS_INLINE S step_body(const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious) {
  using V = typename Simd<S>::vector;
  constexpr Index W = Simd<S>::width, P = kLanes / W;
  Stepper<S, true> stepper(steps, n);
  for (Index c = 0; c < chunk_count(n); ++c) stepper.chunk(maxima, c);
  V most = stepper.most[0], sum = stepper.sum[0];
  for (Index p = 1; p < P; ++p) most = larger(stepper.most[p], most), sum += stepper.sum[p];
  *suspicious = !(fold_lanes(sum, [](auto a, auto b) __attribute__((always_inline)) { return a + b; }) < std::numeric_limits<S>::infinity());
  return fold_largest<S>(most);
}

template <class S>
CERTUS_INLINE void step_chunk_body(const Steps<S>& steps, const Maxima<S>& maxima, Index n, Index c) {
  Stepper<S, false> stepper(steps, n);
  stepper.chunk(maxima, c);
}

template <class S>
[[maybe_unused]] CERTUS_INLINE unsigned lanes_body(const S* group, S least, S* below) {
  unsigned lanes = 0;
  for (Index g = 0; g < kLanes; ++g) {
    const bool in = group[g] >= least;
    lanes |= static_cast<unsigned>(in) << g;
    const S out = in ? kNever<S> : group[g];
    *below = larger(out, *below);
  }
  return lanes;
}

}  // namespace

#define CERTUS_BOTH(S)                                                                                   \
  CERTUS_CLONES S step(const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious) {      \
    return step_body(steps, maxima, n, suspicious);                                                      \
  }                                                                                                      \
  CERTUS_CLONES void step_chunk(const Steps<S>& steps, const Maxima<S>& maxima, Index n, Index c) {      \
    step_chunk_body(steps, maxima, n, c);                                                                \
  }
CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

#if defined(__SSE2__)
unsigned lanes_at_least(const float* group, float least, float* below) {
  const __m128 bar = _mm_set1_ps(least), never = _mm_set1_ps(kNever<float>);
  __m128 most = never;
  unsigned lanes = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128 x = _mm_loadu_ps(group + 4 * i);
    const __m128 in = _mm_cmpge_ps(x, bar);
    lanes |= static_cast<unsigned>(_mm_movemask_ps(in)) << (4 * i);
    most = _mm_max_ps(most, _mm_or_ps(_mm_and_ps(in, never), _mm_andnot_ps(in, x)));
  }
  most = _mm_max_ps(most, _mm_movehl_ps(most, most));
  most = _mm_max_ss(most, _mm_shuffle_ps(most, most, 1));
  *below = larger(_mm_cvtss_f32(most), *below);
  return lanes;
}
unsigned lanes_at_least(const double* group, double least, double* below) {
  const __m128d bar = _mm_set1_pd(least), never = _mm_set1_pd(kNever<double>);
  __m128d most = never;
  unsigned lanes = 0;
  for (int i = 0; i < 8; ++i) {
    const __m128d x = _mm_loadu_pd(group + 2 * i);
    const __m128d in = _mm_cmpge_pd(x, bar);
    lanes |= static_cast<unsigned>(_mm_movemask_pd(in)) << (2 * i);
    most = _mm_max_pd(most, _mm_or_pd(_mm_and_pd(in, never), _mm_andnot_pd(in, x)));
  }
  most = _mm_max_sd(most, _mm_unpackhi_pd(most, most));
  *below = larger(_mm_cvtsd_f64(most), *below);
  return lanes;
}
#else
unsigned lanes_at_least(const float* group, float least, float* below) { return lanes_body(group, least, below); }
unsigned lanes_at_least(const double* group, double least, double* below) { return lanes_body(group, least, below); }
#endif

}  // namespace certus
