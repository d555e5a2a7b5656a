#include "chain/search/scan_labels.hpp"

#include <algorithm>
#include <limits>

#include "base/widths.hpp"

namespace certus {
namespace {

// Several positions at a time share the bounds, which then need not come from beyond the first-level cache for each.
// The sum of the nodes' squares shows NaN, +inf and numbers that are large; a false alarm costs a second look.
template <class S, int bytes, int kRows>
struct Scanner {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  static constexpr Index W = Simd<S, bytes>::width, P = 128 / bytes, N = kRows * P;  // vectors a unit, and of all rows
  static constexpr Index kAhead = 256;  // nodes from one that is read to one that is asked for
  const Scan<S> at;
  const Index n, stride;
  V sum[P], nearest[N], farthest[N];

  CERTUS_INLINE_MEMBER Scanner(const Scan<S>& from, Index labels, Index apart) : at(from), n(labels), stride(apart) {
    for (Index p = 0; p < P; ++p) sum[p] = V{};
  }

  // P vectors of labels from y on; the nodes of row r are at node + r * apart.
  CERTUS_INLINE_MEMBER void unit(Index y, const S* node, Index apart) {
    for (Index v = 0; v < N; ++v) {
      const V own = *reinterpret_cast<const U*>(node + v / P * apart + v % P * W);
      nearest[v] = larger(own + *reinterpret_cast<const U*>(at.inside + y + v % P * W), nearest[v]);
      farthest[v] = larger(own + *reinterpret_cast<const U*>(at.outside + y + v % P * W), farthest[v]);
      sum[v % P] += own * own;
      __builtin_prefetch(node + v / P * apart + v % P * W + kAhead);
    }
  }

  CERTUS_INLINE_MEMBER void chunk(Index c, S* near, S* far, Index chunks) {
    for (Index v = 0; v < N; ++v) nearest[v] = farthest[v] = kNever<S> - V{};
    const Index end = std::min((c + 1) * kChunk, n);
    Index y = c * kChunk;
    for (; y + P * W <= end; y += P * W) unit(y, at.node + y, stride);
    if (y < end) {  // zeros from label n on: all else is -inf there
      alignas(64) S tail[kRows * P * W] = {};
      for (int r = 0; r < kRows; ++r) std::copy(at.node + r * stride + y, at.node + r * stride + end, tail + r * P * W);
      unit(y, tail, P * W);
    }
    for (int r = 0; r < kRows; ++r) {
      near[r * chunks + c] = fold(nearest + r * P);
      far[r * chunks + c] = fold(farthest + r * P);
    }
  }
  static CERTUS_INLINE_MEMBER S fold(const V* best) {
    V all = best[0];
    for (Index p = 1; p < P; ++p) all = larger(best[p], all);
    return fold_largest<S, bytes>(all);
  }
};

template <class S, int bytes, int kRows>
CERTUS_INLINE bool scan_rows(const Scan<S>& at, S* near, S* far, Index n, Index stride) {
  using V = typename Simd<S, bytes>::vector;
  Scanner<S, bytes, kRows> scanner(at, n, stride);
  const Index chunks = chunk_count(n);
  for (Index c = 0; c < chunks; ++c) scanner.chunk(c, near, far, chunks);
  V all = scanner.sum[0];
  for (Index p = 1; p < scanner.P; ++p) all += scanner.sum[p];
  return !(fold_lanes<S, bytes>(all, [](auto a, auto b) __attribute__((always_inline)) { return a + b; }) <
           std::numeric_limits<S>::infinity());
}

template <class S, int bytes>
CERTUS_INLINE bool scan_body(const Scan<S>& at, S* near, S* far, Index n, Index positions, Index stride) {
  constexpr Index kTogether = bytes == 64 ? 4 : 1;
  const Index chunks = chunk_count(n);
  bool suspicious = false;
  for (Index t = 0; t < positions;) {
    const Scan<S> from{at.node + t * stride, at.inside, at.outside};
    const bool several = t + kTogether <= positions;
    suspicious |= several ? scan_rows<S, bytes, kTogether>(from, near + t * chunks, far + t * chunks, n, stride)
                          : scan_rows<S, bytes, 1>(from, near + t * chunks, far + t * chunks, n, stride);
    t += several ? kTogether : 1;
  }
  return suspicious;
}

template <class S, int bytes>
CERTUS_INLINE double find_promise_body(const S* node, const double* inside, double lift, const double* outside,
                                       double rest, Index n) {
  using V = typename Simd<double, bytes>::vector;
  using U = typename Simd<double, bytes>::unaligned;
  constexpr Index W = Simd<double, bytes>::width;
  typedef S Nodes __attribute__((vector_size(W * sizeof(S)), aligned(alignof(S)), may_alias));
  V best = kNever<double> - V{};
  Index y = 0;
  for (; y + W <= n; y += W) {
    const V near = lift + *reinterpret_cast<const U*>(inside + y),
            far = rest + *reinterpret_cast<const U*>(outside + y);
    const V own = __builtin_convertvector(*reinterpret_cast<const Nodes*>(node + y), V);
    best = larger(own + larger(near, far), best);
  }
  double most = fold_largest<double, bytes>(best);
  for (; y < n; ++y) most = larger(static_cast<double>(node[y]) + larger(lift + inside[y], rest + outside[y]), most);
  return most;
}

}  // namespace

#define CERTUS_BOTH(S)                                                                                             \
  CERTUS_BY_WIDTH(bool, scan, S, scan_body,                                                                        \
                  (const Scan<S>& at, S* near, S* far, Index n, Index positions, Index stride),                    \
                  (at, near, far, n, positions, stride))                                                           \
  CERTUS_BY_WIDTH(double, find_promise, S, find_promise_body,                                                      \
                  (const S* node, const double* inside, double lift, const double* outside, double rest, Index n), \
                  (node, inside, lift, outside, rest, n))
CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

}  // namespace certus
