#include "simd.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

// Clones need the dynamic loader's ifunc, which glibc has and macOS, Windows and musl have not;
// resolvers also run before AddressSanitizer is ready.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(CERTUS_NO_CLONES)
#define CERTUS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CERTUS_CLONES
#endif
#define CERTUS_INLINE static inline __attribute__((always_inline))
#define CERTUS_INLINE_MEMBER inline __attribute__((always_inline))

namespace certus {
namespace {

// One 64-byte vector; the compiler splits it where the machine's registers are shorter.
template <class S>
struct Simd {
  typedef S vector __attribute__((vector_size(64)));
  typedef S unaligned __attribute__((vector_size(64), aligned(alignof(S)), may_alias));
  static constexpr Index width = 64 / static_cast<Index>(sizeof(S));
};

template <class V>
CERTUS_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

// N vectors of maxima stay in registers while `count` rows stream by.
template <class S, int N>
CERTUS_INLINE void maxplus_tile(S* acc, const S* alpha, const S* rows, Index count, Index stride) {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  V best[N];
  for (int n = 0; n < N; ++n) best[n] = *reinterpret_cast<const U*>(acc + n * W);
  for (Index i = 0; i < count; ++i) {
    const V from = alpha[i] - V{};
    for (int n = 0; n < N; ++n) {
      const V x = from + *reinterpret_cast<const U*>(rows + i * stride + n * W);
      best[n] = larger(x, best[n]);
    }
  }
  for (int n = 0; n < N; ++n) *reinterpret_cast<U*>(acc + n * W) = best[n];
}

template <class S>
CERTUS_INLINE void maxplus_columns(S* acc, const S* alpha, const S* rows, Index count, Index stride, Index width) {
  constexpr Index W = Simd<S>::width;
  Index j = 0;
  for (; j + 8 * W <= width; j += 8 * W) maxplus_tile<S, 8>(acc + j, alpha, rows + j, count, stride);
  for (; j + 4 * W <= width; j += 4 * W) maxplus_tile<S, 4>(acc + j, alpha, rows + j, count, stride);
  if (j + 3 * W <= width) {
    maxplus_tile<S, 3>(acc + j, alpha, rows + j, count, stride);
    j += 3 * W;
  }
  for (; j + W <= width; j += W) maxplus_tile<S, 1>(acc + j, alpha, rows + j, count, stride);
  if (j == width) return;
  for (Index i = 0; i < count; ++i)  // only rows that could not be padded end here
    for (Index c = j; c < width; ++c) acc[c] = larger(alpha[i] + rows[i * stride + c], acc[c]);
}

inline constexpr Index kRowBlock = 64;  // rows a tile streams before its maxima are written back

template <class S>
CERTUS_INLINE void maxplus_body(S* acc, const S* alpha, const S* rows, Index count, Index stride, Index width) {
  for (Index i = 0; i < count; i += kRowBlock)
    maxplus_columns(acc, alpha + i, rows + i * stride, std::min(kRowBlock, count - i), stride, width);
}

// A block of rows by 8 vectors (32 KiB) stays in the first-level cache while every sentence uses it.
template <class S>
CERTUS_INLINE void maxplus_many_body(S* acc, const S* alpha, Index sentences, const S* rows, Index count,
                                     Index stride, Index width) {
  constexpr Index W = 8 * Simd<S>::width;
  for (Index i = 0; i < count; i += kRowBlock) {
    const Index n = std::min(kRowBlock, count - i);
    for (Index j = 0; j < width; j += W)
      for (Index b = 0; b < sentences; ++b)
        maxplus_columns(acc + b * width + j, alpha + b * width + i, rows + i * stride + j, n, stride,
                        std::min(W, width - j));
  }
}

template <class S>
CERTUS_INLINE S add_max_body(S* out, const S* a, const S* b, Index n) {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  S best = kNever<S>;
  Index j = 0;
  if (n >= W) {
    V most = kNever<S> - V{};
    for (; j + W <= n; j += W) {
      const V x = *reinterpret_cast<const U*>(a + j) + *reinterpret_cast<const U*>(b + j);
      *reinterpret_cast<U*>(out + j) = x;
      most = larger(x, most);
    }
    for (Index w = 0; w < W; ++w) best = larger(most[w], best);
  }
  for (; j < n; ++j) best = larger(out[j] = a[j] + b[j], best);
  return best;
}

template <class S>
CERTUS_INLINE Index argmax_sum_body(const S* a, const S* b, Index stride, Index n) {
  S best = kNever<S>;
  if (stride == 1) {
    for (Index j = 0; j < n; ++j) best = larger(a[j] + b[j], best);
    for (Index j = 0; j < n; ++j)
      if (a[j] + b[j] == best) return j;
  }
  Index where = 0;
  for (Index j = 0; j < n; ++j) {
    const S x = a[j] + b[j * stride];
    if (x > best) best = x, where = j;
  }
  return where;
}

template <class S>
CERTUS_INLINE Index next_best_body(const S* a, const S* b, Index stride, Index n, double value, Index index,
                                   double* found) {
  double best = kNever<double>;
  Index where = -1;
  for (Index j = 0; j < n; ++j) {
    const double x = static_cast<double>(a[j]) + static_cast<double>(b[j * stride]);
    const bool after = x < value || (x == value && j > index);
    if (after && x > best) best = x, where = j;
  }
  *found = best;
  return where;
}

template <class S>
CERTUS_INLINE Index first_invalid_body(const S* x, Index n) {
  constexpr S top = std::numeric_limits<S>::infinity();
  constexpr Index kBlock = 256;
  for (Index j = 0; j < n; j += kBlock) {
    const Index end = std::min(n, j + kBlock);
    int bad = 0;
    for (Index i = j; i < end; ++i) bad |= !(x[i] < top);
    if (!bad) continue;
    for (Index i = j; i < end; ++i)
      if (!(x[i] < top)) return i;
  }
  return -1;
}

// Folds a vector by halves, in an order that does not depend on the machine.
template <class S, class Fold>
CERTUS_INLINE S fold(typename Simd<S>::vector v, Fold f) {
  constexpr Index W = Simd<S>::width;
  typedef S half __attribute__((vector_size(32)));
  typedef S quarter __attribute__((vector_size(16)));
  struct Halves {
    half low, high;
  };
  struct Quarters {
    quarter low, high;
  };
  const auto halves = __builtin_bit_cast(Halves, v);
  const auto quarters = __builtin_bit_cast(Quarters, f(halves.low, halves.high));
  const quarter q = f(quarters.low, quarters.high);
  if constexpr (W == 16) return f(f(q[0], q[2]), f(q[1], q[3]));
  else return f(q[0], q[1]);
}

// The state of a step on its way over the labels. What kTracked adds: the largest reach, and a sum that shows
// NaN and +inf (a false alarm, by overflow, costs a second look).
template <class S, bool kTracked>
struct Stepper {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  static constexpr Index W = Simd<S>::width, P = kLanes / W;  // vectors a unit of kLanes labels
  const Steps<S> at;
  const Index n;
  V most[P], sum[P], best[P];

  // N units from label y on: their maxima stay in registers while the rows pass by.
  template <int N>
  CERTUS_INLINE_MEMBER void block(Index y, const S* node) {
    V x[N * P];
    for (Index v = 0; v < N * P; ++v) x[v] = at.rest + *reinterpret_cast<const U*>(at.enter + y + v * W);
    for (Index i = 0; i < at.count; ++i) {
      const V from = at.alpha[i] - V{};
      const S* row = at.rows[i] + y;
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

  CERTUS_INLINE_MEMBER void chunk(const Maxima<S>& maxima, Index c) {
    for (Index p = 0; p < P; ++p) best[p] = kNever<S> - V{};
    static_assert(kPad == 4 * kLanes && kChunk % kPad == 0);
    const Index end = std::min((c + 1) * kChunk, padded(n));
    for (Index y = c * kChunk; y < end; y += kPad) {
      if (y + kPad <= n) {
        block<4>(y, at.node + y);
      } else {
        alignas(64) S tail[kPad];
        for (Index w = 0; w < kPad; ++w) tail[w] = y + w < n ? at.node[y + w] : kNever<S>;
        block<4>(y, tail);
      }
    }
    V all = best[0];
    for (Index p = 0; p < P; ++p) {
      *reinterpret_cast<U*>(maxima.group + c * kLanes + p * W) = best[p];
      all = larger(best[p], all);
    }
    maxima.chunk[c] = fold<S>(all, [](auto a, auto b) { return larger(a, b); });
  }
};

template <class S>
CERTUS_INLINE S step_body(const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious) {
  using V = typename Simd<S>::vector;
  constexpr Index W = Simd<S>::width, P = kLanes / W;
  Stepper<S, true> stepper{steps, n, {}, {}, {}};
  for (Index p = 0; p < P; ++p) stepper.most[p] = kNever<S> - V{};
  for (Index c = 0; c < chunk_count(n); ++c) stepper.chunk(maxima, c);
  V most = stepper.most[0], sum = stepper.sum[0];
  for (Index p = 1; p < P; ++p) most = larger(stepper.most[p], most), sum += stepper.sum[p];
  *suspicious = !(fold<S>(sum, [](auto a, auto b) { return a + b; }) < std::numeric_limits<S>::infinity());
  return fold<S>(most, [](auto a, auto b) { return larger(a, b); });
}

template <class S>
CERTUS_INLINE void step_chunk_body(const Steps<S>& steps, const Maxima<S>& maxima, Index n, Index c) {
  Stepper<S, false> stepper{steps, n, {}, {}, {}};
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

#define CERTUS_BOTH(S)                                                                                        \
  CERTUS_CLONES void maxplus(S* acc, const S* alpha, const S* rows, Index count, Index stride, Index width) { \
    maxplus_body(acc, alpha, rows, count, stride, width);                                                     \
  }                                                                                                           \
  CERTUS_CLONES void maxplus_many(S* acc, const S* alpha, Index sentences, const S* rows, Index count,        \
                                  Index stride, Index width) {                                                \
    maxplus_many_body(acc, alpha, sentences, rows, count, stride, width);                                     \
  }                                                                                                           \
  CERTUS_CLONES S add_max(S* out, const S* a, const S* b, Index n) { return add_max_body(out, a, b, n); }     \
  CERTUS_CLONES void subtract(S* x, S shift, Index n) {                                                       \
    for (Index j = 0; j < n; ++j) x[j] -= shift;                                                              \
  }                                                                                                           \
  CERTUS_CLONES Index argmax_sum(const S* a, const S* b, Index stride, Index n) {                             \
    return argmax_sum_body(a, b, stride, n);                                                                  \
  }                                                                                                           \
  CERTUS_CLONES Index next_best_sum(const S* a, const S* b, Index stride, Index n, double value, Index index, \
                                    double* found) {                                                          \
    return next_best_body(a, b, stride, n, value, index, found);                                              \
  }                                                                                                           \
  CERTUS_CLONES Index first_invalid(const S* x, Index n) { return first_invalid_body(x, n); }                 \
  CERTUS_CLONES S step(const Steps<S>& steps, const Maxima<S>& maxima, Index n, bool* suspicious) {       \
    return step_body(steps, maxima, n, suspicious);                                                           \
  }                                                                                                           \
  CERTUS_CLONES void step_chunk(const Steps<S>& steps, const Maxima<S>& maxima, Index n, Index c) {           \
    step_chunk_body(steps, maxima, n, c);                                                                     \
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
#else
unsigned lanes_at_least(const float* group, float least, float* below) { return lanes_body(group, least, below); }
#endif
unsigned lanes_at_least(const double* group, double least, double* below) { return lanes_body(group, least, below); }

CERTUS_CLONES void accumulate_rows(double* sum, const double* weight, const double* rows, Index count, Index stride,
                                   Index width) {
  for (Index i = 0; i < count; ++i) {
    const double w = weight[i];
    const double* row = rows + i * stride;
    if (w == 0) continue;
    for (Index j = 0; j < width; ++j) sum[j] += w * row[j];
  }
}

CERTUS_CLONES void dot_rows(double* out, const double* weight, const double* rows, Index count, Index stride,
                            Index width) {
  constexpr Index kWays = 8;  // fixed lanes, so that the sum does not depend on the machine
  for (Index i = 0; i < count; ++i) {
    const double* row = rows + i * stride;
    double part[kWays] = {};
    Index j = 0;
    for (; j + kWays <= width; j += kWays)
      for (Index w = 0; w < kWays; ++w) part[w] += row[j + w] * weight[j + w];
    for (; j < width; ++j) part[0] += row[j] * weight[j];
    out[i] = ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
  }
}

}  // namespace certus
