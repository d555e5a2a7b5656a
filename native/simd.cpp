#include "simd.hpp"

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

template <class S>
CERTUS_INLINE S group_max_body(S* groups, const S* row, const S* potential, Index n, bool* suspicious) {
  static_assert(kLanes == 16);
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  constexpr Index P = kLanes / W;  // vectors a row of lanes: 1 for float, 2 for double
  V most[P], sum[P];
  for (Index p = 0; p < P; ++p) most[p] = kNever<S> - V{}, sum[p] = V{};
  const auto take = [&](V(&best)[P], const S* x, const S* y) {
    for (Index p = 0; p < P; ++p) {
      const V v = *reinterpret_cast<const U*>(x + p * W) + *reinterpret_cast<const U*>(y + p * W);
      best[p] = larger(v, best[p]);
      sum[p] += v;  // NaN and +inf survive a sum; a false alarm (overflow) costs a second look
    }
  };
  Index base = 0;
  for (; base < n; base += kLanes * kGroup, groups += kLanes) {
    V best[P];
    for (Index p = 0; p < P; ++p) best[p] = kNever<S> - V{};
    const Index left = n - base;
    if (left >= kLanes * kGroup) {
      for (Index r = 0; r < kGroup; ++r) take(best, row + base + r * kLanes, potential + base + r * kLanes);
    } else {
      Index y = base;
      for (; y + kLanes <= n; y += kLanes) take(best, row + y, potential + y);
      if (y < n) {
        alignas(64) S x[kLanes], zero[kLanes];
        for (Index w = 0; w < kLanes; ++w) x[w] = kNever<S>, zero[w] = 0;
        for (Index w = 0; w < n - y; ++w) x[w] = row[y + w] + potential[y + w];
        take(best, x, zero);
      }
    }
    for (Index p = 0; p < P; ++p) {
      *reinterpret_cast<U*>(groups + p * W) = best[p];
      most[p] = larger(best[p], most[p]);
    }
  }
  S best = kNever<S>;
  bool bad = false;
  for (Index p = 0; p < P; ++p)
    for (Index w = 0; w < W; ++w) {
      best = larger(most[p][w], best);
      bad |= !(sum[p][w] < std::numeric_limits<S>::infinity());
    }
  *suspicious = bad;
  return best;
}

template <class S>
CERTUS_INLINE void raise_body(double* acc, double from, const S* row, Index n) {
  for (Index j = 0; j < n; ++j) {
    const double x = from + static_cast<double>(row[j]);
    acc[j] = larger(x, acc[j]);
  }
}

// The largest at(j) for j < n, in enough lanes to keep a vector unit busy.
template <class At>
CERTUS_INLINE double largest_of(const At& at, Index n) {
  constexpr Index kWays = 16;
  double part[kWays];
  for (Index w = 0; w < kWays; ++w) part[w] = kNever<double>;
  Index j = 0;
  for (; j + kWays <= n; j += kWays)
    for (Index w = 0; w < kWays; ++w) part[w] = larger(at(j + w), part[w]);
  for (; j < n; ++j) part[0] = larger(at(j), part[0]);
  for (Index w = 1; w < kWays; ++w) part[0] = larger(part[w], part[0]);
  return part[0];
}

template <class S>
CERTUS_INLINE Index reaching_body(Label* hits, double from, const S* row, const double* least, Index n) {
  constexpr Index kBlock = 32;  // hits are few: most blocks are passed over with one test
  Index found = 0, j = 0;
  for (; j < n; j += kBlock) {
    const Index end = std::min(n, j + kBlock);
    int any = 0;
    if (end - j == kBlock) {
      for (Index w = 0; w < kBlock; ++w) any |= from + static_cast<double>(row[j + w]) >= least[j + w];
      if (!any) continue;
    }
    for (Index i = j; i < end; ++i) {
      hits[found] = static_cast<Label>(i);
      found += from + static_cast<double>(row[i]) >= least[i];
    }
  }
  return found;
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
  CERTUS_CLONES S group_max(S* groups, const S* row, const S* potential, Index n, bool* suspicious) {         \
    return group_max_body(groups, row, potential, n, suspicious);                                             \
  }                                                                                                           \
  CERTUS_CLONES void raise(double* acc, double from, const S* row, Index n) { raise_body(acc, from, row, n); } \
  CERTUS_CLONES double max_sum(const S* a, const double* b, Index n) {                                        \
    return largest_of([=](Index j) { return static_cast<double>(a[j]) + b[j]; }, n);                          \
  }                                                                                                           \
  CERTUS_CLONES Index reaching(Label* hits, double from, const S* row, const double* least, Index n) {        \
    return reaching_body(hits, from, row, least, n);                                                          \
  }

CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

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

CERTUS_CLONES double largest(const double* x, Index n) {
  return largest_of([=](Index j) { return x[j]; }, n);
}

namespace {

// R rows at a time, since a single row would wait for each addition. The lanes are the same on every machine, and
// so are the sums.
template <int R>
CERTUS_INLINE void dot_some(double* out, const double* weight, const double* rows, Index stride, Index width) {
  using V = Simd<double>::vector;
  using U = Simd<double>::unaligned;
  constexpr Index W = Simd<double>::width;
  V part[R] = {};
  Index j = 0;
  for (; j + W <= width; j += W) {
    const V w = *reinterpret_cast<const U*>(weight + j);
    for (int r = 0; r < R; ++r) part[r] += *reinterpret_cast<const U*>(rows + r * stride + j) * w;
  }
  for (int r = 0; r < R; ++r) {
    V p = part[r];
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
