#include "base/simd.hpp"

#include <algorithm>
#include <cmath>

#include "base/vector.hpp"

namespace certus {
namespace {

// `out` must not overlap the inputs: the last vector is moved back to end with the array, over one done before.
template <class S>
CERTUS_INLINE S add_max_body(S* out, const S* a, const S* b, Index n) {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  S best = kNever<S>;
  if (n < W) {
    for (Index j = 0; j < n; ++j) best = larger(out[j] = a[j] + b[j], best);
    return best;
  }
  V most = kNever<S> - V{};
  for (Index j = 0; j < n; j += W) {
    const Index at = std::min(j, n - W);
    const V x = *reinterpret_cast<const U*>(a + at) + *reinterpret_cast<const U*>(b + at);
    *reinterpret_cast<U*>(out + at) = x;
    most = larger(x, most);
  }
  return fold_largest<S>(most);
}

// The first j >= from with a[j] + b[j] == value, or n.
template <class S>
CERTUS_INLINE Index find_sum(const S* a, const S* b, Index from, Index n, S value) {
  // Short vectors: whether any of their lanes is it shows in two words.
  typedef S few __attribute__((vector_size(16), aligned(alignof(S)), may_alias));
  constexpr Index F = 16 / static_cast<Index>(sizeof(S));
  struct Words {
    std::uint64_t low, high;
  };
  Index j = from;
  for (; j + F <= n; j += F) {
    const auto equal = *reinterpret_cast<const few*>(a + j) + *reinterpret_cast<const few*>(b + j) == value;
    const auto words = __builtin_bit_cast(Words, equal);
    if (words.low | words.high) break;
  }
  while (j < n && !(a[j] + b[j] == value)) ++j;
  return j;
}

// The first place of the largest sum in arrays side by side, at least a vector long.
template <class S>
CERTUS_INLINE Index argmax_sum_dense(const S* a, const S* b, Index n) {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  const auto sum = [&](Index j) __attribute__((always_inline)) {
    return *reinterpret_cast<const U*>(a + j) + *reinterpret_cast<const U*>(b + j);
  };
  V most = kNever<S> - V{};
  for (Index j = 0; j < n; j += W) most = larger<V>(sum(std::min(j, n - W)), most);
  const S best = fold_largest<S>(most);
  return find_sum(a, b, 0, n, best);
}

template <class S>
CERTUS_INLINE Index argmax_sum_body(const S* a, const S* b, Index stride, Index n) {
  if (stride == 1 && n >= Simd<S>::width) return argmax_sum_dense(a, b, n);
  S best = kNever<S>;
  Index where = 0;
  for (Index j = 0; j < n; ++j) {
    const S x = a[j] + b[j * stride];
    if (x > best) best = x, where = j;
  }
  return where;
}

template <class S>
CERTUS_INLINE Index next_best_dense(const S* a, const S* b, Index n, S value, Index index, double* found) {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  if (index >= 0) {  // an equal one further on comes first
    const Index equal = find_sum(a, b, index + 1, n, value);
    if (equal < n) return *found = static_cast<double>(value), equal;
  }
  V most = kNever<S> - V{};
  Index j = 0;
  for (; j + W <= n; j += W) {
    const V x = *reinterpret_cast<const U*>(a + j) + *reinterpret_cast<const U*>(b + j);
    most = larger<V>(x < value ? x : kNever<S> - V{}, most);
  }
  S best = fold_largest<S>(most);
  for (; j < n; ++j) best = a[j] + b[j] < value ? larger(a[j] + b[j], best) : best;
  *found = static_cast<double>(best);
  return best == kNever<S> ? -1 : find_sum(a, b, 0, n, best);
}

template <class S>
CERTUS_INLINE Index next_best_body(const S* a, const S* b, Index stride, Index n, double limit, Index index,
                                   double* found) {
  const S value = static_cast<S>(limit);  // a sum in S, or +inf
  if (stride == 1) return next_best_dense(a, b, n, value, index, found);
  S best = kNever<S>;
  Index where = -1;
  for (Index j = 0; j < n; ++j) {
    const S x = a[j] + b[j * stride];
    const bool after = x < value || (x == value && j > index);
    if (after && x > best) best = x, where = j;
  }
  *found = static_cast<double>(best);
  return where;
}

template <class S>
CERTUS_INLINE TwoBest two_best_body(const S* a, const S* b, Index stride, Index n) {
  using V = typename Simd<S>::vector;
  using U = typename Simd<S>::unaligned;
  constexpr Index W = Simd<S>::width;
  S first = kNever<S>, second = kNever<S>;
  const auto take = [&](S x) {
    second = larger(x > first ? first : x, second);
    first = larger(x, first);
  };
  Index j = 0;
  if (stride == 1 && n >= W) {
    V most = kNever<S> - V{}, next = most;
    for (; j + W <= n; j += W) {
      const V x = *reinterpret_cast<const U*>(a + j) + *reinterpret_cast<const U*>(b + j);
      next = larger<V>(x > most ? most : x, next);
      most = larger<V>(x, most);
    }
    alignas(64) S lane[2][W];
    *reinterpret_cast<V*>(lane[0]) = most, *reinterpret_cast<V*>(lane[1]) = next;
    first = fold_largest<S>(most);
    Index best = 0;
    while (lane[0][best] != first) ++best;
    lane[0][best] = kNever<S>;
    second = larger(fold_largest<S>(*reinterpret_cast<const V*>(lane[0])), fold_largest<S>(next));
  }
  for (; j < n; ++j) take(a[j] + b[j * stride]);
  TwoBest out{{-1, -1}, {static_cast<double>(first), static_cast<double>(second)}};
  const auto find = [&](Index from, S value) {
    if (stride == 1) return find_sum(a, b, from, n, value);
    while (!(a[from] + b[from * stride] == value)) ++from;
    return from;
  };
  if (first != kNever<S>) out.index[0] = find(0, first);
  if (second != kNever<S>) out.index[1] = find(second == first ? out.index[0] + 1 : 0, second);
  return out;
}

template <class S>
CERTUS_INLINE Index first_beyond_body(const S* x, Index n, S limit) {
  constexpr Index kBlock = 256;
  const auto is_beyond = [limit](S value) __attribute__((always_inline)) {
    return !(std::abs(value) <= limit) & (value != kNever<S>);
  };
  for (Index j = 0; j < n; j += kBlock) {
    const Index end = std::min(n, j + kBlock);
    int bad = 0;
    for (Index i = j; i < end; ++i) bad |= is_beyond(x[i]);
    if (!bad) continue;
    for (Index i = j; i < end; ++i)
      if (is_beyond(x[i])) return i;
  }
  return -1;
}

// Sums of squares, in vectors that do not wait for each other; from 1 on, so that small ones cost no more than others.
template <class S>
CERTUS_INLINE bool is_moderate_body(const S* x, Index n) {
  using V = typename Simd<S, 32>::vector;
  using U = typename Simd<S, 32>::unaligned;
  constexpr Index W = Simd<S, 32>::width, kWays = 4;
  V sum[kWays];
  for (Index w = 0; w < kWays; ++w) sum[w] = S{1} - V{};
  Index j = 0;
  for (; j + kWays * W <= n; j += kWays * W)
    for (Index w = 0; w < kWays; ++w) {
      const V v = *reinterpret_cast<const U*>(x + j + w * W);
      sum[w] += v * v;
    }
  S rest = 1;
  if (n < W)
    for (; j < n; ++j) rest += x[j] * x[j];
  for (; j < n; j += W) {  // the last vector is moved back to end with the array: what counts twice does no harm
    const V v = *reinterpret_cast<const U*>(x + std::min(j, n - W));
    sum[0] += v * v;
  }
  const V all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  const auto add = [](auto a, auto b) __attribute__((always_inline)) { return a + b; };
  return rest + fold_lanes<S, 32>(all, add) < std::numeric_limits<S>::infinity();
}

// The largest value(j) for j < n, in lanes that do not wait for each other.
template <class S, class Value>
CERTUS_INLINE S largest_body(Index n, const Value& value) {
  constexpr Index W = 16;
  S lane[W];
  for (Index w = 0; w < W; ++w) lane[w] = kNever<S>;
  Index j = 0;
  for (; j + W <= n; j += W)
    for (Index w = 0; w < W; ++w) lane[w] = larger<S>(value(j + w), lane[w]);
  S best = kNever<S>;
  for (; j < n; ++j) best = larger<S>(value(j), best);
  for (Index w = 0; w < W; ++w) best = larger(lane[w], best);
  return best;
}

template <class S>
CERTUS_INLINE void largest_sums_body(const double* a, const double* b, const S* x, Index n, double* most_a,
                                     double* most_b) {
  using V = Simd<double>::vector;
  using U = Simd<double>::unaligned;
  typedef S short_vector __attribute__((vector_size(8 * sizeof(S)), aligned(alignof(S)), may_alias));
  constexpr Index W = Simd<double>::width;
  double best_a = kNever<double>, best_b = kNever<double>;
  Index j = 0;
  if (n >= W) {
    V lanes_a = kNever<double> - V{}, lanes_b = lanes_a;
    for (; j + W <= n; j += W) {
      const V link = __builtin_convertvector(*reinterpret_cast<const short_vector*>(x + j), V);
      lanes_a = larger(*reinterpret_cast<const U*>(a + j) + link, lanes_a);
      lanes_b = larger(*reinterpret_cast<const U*>(b + j) + link, lanes_b);
    }
    for (Index w = 0; w < W; ++w) best_a = larger(lanes_a[w], best_a), best_b = larger(lanes_b[w], best_b);
  }
  for (; j < n; ++j) {
    const double link = static_cast<double>(x[j]);
    best_a = larger(a[j] + link, best_a), best_b = larger(b[j] + link, best_b);
  }
  *most_a = best_a, *most_b = best_b;
}

template <class S>
CERTUS_INLINE void raise_body(double* acc, double from, const S* row, Index n) {
  for (Index j = 0; j < n; ++j) {
    const double x = from + static_cast<double>(row[j]);
    acc[j] = larger(x, acc[j]);
  }
}

// The j for which reaches(j), listed in `hits`; returns how many.
template <class Reaches>
CERTUS_INLINE Index reaching_body(Label* hits, Index n, const Reaches& reaches) {
  constexpr Index kBlock = 32;  // hits are few: most blocks are passed over with one test
  Index found = 0, j = 0;
  for (; j < n; j += kBlock) {
    const Index end = std::min(n, j + kBlock);
    int any = 0;
    if (end - j == kBlock) {
      for (Index w = 0; w < kBlock; ++w) any |= reaches(j + w);
      if (!any) continue;
    }
    for (Index i = j; i < end; ++i) {
      hits[found] = static_cast<Label>(i);
      found += reaches(i);
    }
  }
  return found;
}

}  // namespace

#define CERTUS_BOTH(S)                                                                                               \
  CERTUS_CLONES S add_max(S* out, const S* a, const S* b, Index n) { return add_max_body(out, a, b, n); }            \
  CERTUS_CLONES void subtract(S* x, S shift, Index n) {                                                              \
    for (Index j = 0; j < n; ++j) x[j] -= shift;                                                                     \
  }                                                                                                                  \
  CERTUS_CLONES Index argmax_sum(const S* a, const S* b, Index stride, Index n) {                                    \
    return argmax_sum_body(a, b, stride, n);                                                                         \
  }                                                                                                                  \
  CERTUS_CLONES Index next_best_sum(const S* a, const S* b, Index stride, Index n, double value, Index index,        \
                                    double* found) {                                                                 \
    return next_best_body(a, b, stride, n, value, index, found);                                                     \
  }                                                                                                                  \
  CERTUS_CLONES TwoBest two_best_sums(const S* a, const S* b, Index stride, Index n) {                               \
    return two_best_body(a, b, stride, n);                                                                           \
  }                                                                                                                  \
  CERTUS_CLONES Index first_beyond(const S* x, Index n, S limit) { return first_beyond_body(x, n, limit); }          \
  CERTUS_CLONES bool is_moderate(const S* x, Index n) { return is_moderate_body(x, n); }                             \
  CERTUS_CLONES S largest_magnitude(const S* x, Index n) {                                                           \
    return std::max(S{0}, largest_body<S>(n, [x](Index j) __attribute__((always_inline)) {                           \
                      return x[j] == kNever<S> ? S{0} : std::abs(x[j]);                                              \
                    }));                                                                                             \
  }                                                                                                                  \
  CERTUS_CLONES S largest(const S* x, Index n) {                                                                     \
    return largest_body<S>(n, [x](Index j) __attribute__((always_inline)) { return x[j]; });                         \
  }                                                                                                                  \
  CERTUS_CLONES S largest_at(const S* row, const Label* at, Index n) {                                               \
    return largest_body<S>(n, [row, at](Index j) __attribute__((always_inline)) { return row[at[j]]; });             \
  }                                                                                                                  \
  CERTUS_CLONES void gather(S* __restrict out, const S* __restrict row, const Label* at, Index n) {                  \
    for (Index j = 0; j < n; ++j) out[j] = row[at[j]];                                                               \
  }                                                                                                                  \
  CERTUS_CLONES void raise_both(double* __restrict a, double* __restrict b, double from_a, double from_b,            \
                                const S* __restrict x, Index n) {                                                    \
    for (Index j = 0; j < n; ++j) {                                                                                  \
      const double link = static_cast<double>(x[j]);                                                                 \
      a[j] = larger(from_a + link, a[j]);                                                                            \
      b[j] = larger(from_b + link, b[j]);                                                                            \
    }                                                                                                                \
  }                                                                                                                  \
  CERTUS_CLONES void largest_sums(const double* a, const double* b, const S* x, Index n, double* most_a,             \
                                  double* most_b) {                                                                  \
    largest_sums_body(a, b, x, n, most_a, most_b);                                                                   \
  }                                                                                                                  \
  CERTUS_CLONES void raise(double* acc, double from, const S* row, Index n) { raise_body(acc, from, row, n); }       \
  CERTUS_CLONES double max_sum(const S* a, const double* b, Index n) {                                               \
    return largest_body<double>(                                                                                     \
        n, [a, b](Index j) __attribute__((always_inline)) { return static_cast<double>(a[j]) + b[j]; });             \
  }                                                                                                                  \
  CERTUS_CLONES Index reaching(Label* hits, const S* node, const S* into, const S* onward, const ReachBounds& reach, \
                               Index n) {                                                                            \
    const ReachBounds r = reach;                                                                                     \
    return reaching_body(hits, n, [node, into, onward, r](Index j) __attribute__((always_inline)) {                  \
      const double in = r.behind + static_cast<double>(into[j]), out = r.ahead + static_cast<double>(onward[j]);     \
      return (in < r.in ? in : r.in) + static_cast<double>(node[j]) + (out < r.out ? out : r.out) >= r.least;        \
    });                                                                                                              \
  }                                                                                                                  \
  CERTUS_CLONES Index reaching(Label* hits, double from, const S* row, const double* least, Index n) {               \
    return reaching_body(hits, n, [from, row, least](Index j) __attribute__((always_inline)) {                       \
      return from + static_cast<double>(row[j]) >= least[j];                                                         \
    });                                                                                                              \
  }

CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

}  // namespace certus
