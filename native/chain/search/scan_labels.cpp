#include "chain/search/scan_labels.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/widths.hpp"

namespace certus {
namespace {

// Folds as many vectors as a vector has lanes into one: lane i becomes the largest lane of vector i. Each round takes
// pairs of vectors to one, whose lanes come from the first and from the second in turn, `apart` at a time.
template <class S, int bytes>
struct Folded {
  using V = typename Simd<S, bytes>::vector;
  static constexpr int W = Simd<S, bytes>::width;

  template <int apart, int... lane>
  static CERTUS_INLINE_MEMBER V merge(V a, V b, std::integer_sequence<int, lane...>) {
    return larger(__builtin_shufflevector(a, b, (lane / apart % 2 ? W + lane - apart : lane)...),
                  __builtin_shufflevector(a, b, (lane / apart % 2 ? W + lane : lane + apart)...));
  }
  template <int apart = 1>
  static CERTUS_INLINE_MEMBER V fold(V* v) {
    if constexpr (apart == W) return v[0];
    else {
      for (int i = 0; i < W / apart; i += 2)
        v[i / 2] = merge<apart>(v[i], v[i + 1], std::make_integer_sequence<int, W>{});
      return fold<2 * apart>(v);
    }
  }
};

// Several positions at a time share the bounds, which then need not come from beyond the first-level cache for each.
// The sum of the nodes' squares shows NaN, +inf and numbers that are large; a false alarm costs a second look.
template <class S, int bytes, int kRows>
CERTUS_INLINE bool scan_rows(const Scan<S>& at, S* near, S* own, Index n, Index stride) {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  constexpr Index W = Simd<S, bytes>::width;
  constexpr Index kAhead = 256;  // nodes from one that is read to one that is asked for
  const Index all = block_count<S>(n), room = padded_blocks<S>(n);
  alignas(64) S tail[kRows * kBlock<S>] = {};  // the nodes of the last block, and zeros: all else is -inf there
  for (Index r = 0; r < kRows; ++r)
    std::copy(at.node + r * stride + (all - 1) * kBlock<S>, at.node + r * stride + n, tail + r * kBlock<S>);
  V sum[kRows] = {}, nearest[kRows][W], most[kRows][W];
  for (Index c = 0; c < room; c += W) {
    for (Index w = 0; w < W; ++w) {
      const Index y = (c + w) * kBlock<S>;
      const bool last = c + w + 1 == all;
      const S* const node = last ? tail : at.node + y;
      const Index apart = last ? kBlock<S> : stride;
      V near_here[kRows], most_here[kRows];
      if (c + w >= all) {
        for (Index r = 0; r < kRows; ++r) nearest[r][w] = most[r][w] = kNever<S> - V{};
        continue;
      }
#pragma GCC unroll 8
      for (Index v = 0; v < kBlock<S>; v += W) {
        const V inside = *reinterpret_cast<const U*>(at.inside + y + v);
        const V leave = *reinterpret_cast<const U*>(at.leave + y + v);
        for (Index r = 0; r < kRows; ++r) {
          const V x = *reinterpret_cast<const U*>(node + r * apart + v);
          near_here[r] = v ? larger(x + inside, near_here[r]) : x + inside;
          most_here[r] = v ? larger(x + leave, most_here[r]) : x + leave;
          sum[r] += x * x;
          __builtin_prefetch(node + r * apart + v + kAhead);
        }
      }
      for (Index r = 0; r < kRows; ++r) nearest[r][w] = near_here[r], most[r][w] = most_here[r];
    }
    for (Index r = 0; r < kRows; ++r) {
      *reinterpret_cast<U*>(near + r * room + c) = Folded<S, bytes>::fold(nearest[r]);
      *reinterpret_cast<U*>(own + r * room + c) = Folded<S, bytes>::fold(most[r]);
    }
  }
  for (Index r = 1; r < kRows; ++r) sum[0] += sum[r];
  return !(fold_lanes<S, bytes>(sum[0], [](auto a, auto b) __attribute__((always_inline)) { return a + b; }) <
           std::numeric_limits<S>::infinity());
}

template <class S, int bytes>
CERTUS_INLINE bool scan_body(const Scan<S>& at, S* near, S* own, Index n, Index positions, Index stride) {
  constexpr Index kTogether = bytes == 64 ? 4 : 1;
  const Index room = padded_blocks<S>(n);
  bool suspicious = false;
  for (Index t = 0; t < positions;) {
    const Scan<S> from{at.node + t * stride, at.inside, at.leave};
    const bool several = t + kTogether <= positions;
    suspicious |= several ? scan_rows<S, bytes, kTogether>(from, near + t * room, own + t * room, n, stride)
                          : scan_rows<S, bytes, 1>(from, near + t * room, own + t * room, n, stride);
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

template <class S, int bytes>
CERTUS_INLINE void promise_body(const Steps<S>& steps, Promises<S>& promises, Index n) {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  constexpr Index W = Simd<S, bytes>::width;
  const Index room = padded_blocks<S>(n);
  S* const near = promises.near;
  V all = kNever<S> - V{};
  for (Index c = 0; c < room; c += W) {
    const V loose = *reinterpret_cast<const U*>(near + c), own = *reinterpret_cast<const U*>(promises.own + c);
    V best = kNever<S> - V{};
    for (Index i = 0; i < steps.count; ++i)
      best = larger(steps.alpha[i] + *reinterpret_cast<const U*>(promises.rows[i] + c), best);
    best += own;
    best = best > loose ? loose : best;
    best = larger(steps.lift + loose, best);
    best = larger(steps.rest + *reinterpret_cast<const U*>(promises.enter + c) + own, best);
    *reinterpret_cast<U*>(near + c) = best;
    all = larger(best, all);
  }
  const S most = fold_largest<S, bytes>(all);
  V place, first = static_cast<S>(room) - V{}, tied = {};
  for (Index w = 0; w < W; ++w) place[w] = static_cast<S>(w);
  for (Index c = 0; c < room; c += W) {
    const V here = *reinterpret_cast<const U*>(near + c);
    const V at = here == most ? place + static_cast<S>(c) : static_cast<S>(room) - V{};
    first = first > at ? at : first;
    tied += here == most ? S{1} - V{} : V{};
  }
  promises.best = static_cast<Index>(-fold_largest<S, bytes>(-first));
  promises.tied = static_cast<Index>(
      fold_lanes<S, bytes>(tied, [](auto a, auto b) __attribute__((always_inline)) { return a + b; }));
}

// The step to one block.
template <class S, int bytes>
struct BlockStepper {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  static constexpr Index W = Simd<S, bytes>::width;
  const Steps<S>& at;
  const Index n;
  V highest = kNever<S> - V{};  // the largest reach so far, without the cap

  CERTUS_INLINE_MEMBER BlockStepper(const Steps<S>& steps, Index labels) : at(steps), n(labels) {}

  // Returns the largest sum.
  CERTUS_INLINE_MEMBER S step(Index c) {
    const Index y = c * kBlock<S>;
    if (y + kBlock<S> <= n) return step(y, at.node + y);
    alignas(64) S tail[kBlock<S>] = {};
    std::copy(at.node + y, at.node + n, tail);
    return step(y, tail);
  }
  CERTUS_INLINE_MEMBER S step(Index y, const S* node) {
    V most = kNever<S> - V{};
    for (Index v = 0; v < kBlock<S>; v += W) {
      V x = at.rest + load(at.enter + y + v);
      for (Index i = 0; i < at.count; ++i) x = larger(at.alpha[i] + load(at.rows[i] + y + v), x);
      const V own = load(node + v);
      highest = larger(x + own, highest);
      x = larger(at.lift + load(at.cap + y + v), x) + own + load(at.other + y + v);
      *reinterpret_cast<U*>(at.reach + y + v) = x;
      most = larger(x, most);
    }
    return fold_largest<S, bytes>(most);
  }
  static CERTUS_INLINE_MEMBER V load(const S* x) { return *reinterpret_cast<const U*>(x); }

  // Asks for what the step to a block will read of the rows.
  CERTUS_INLINE_MEMBER void ask(Index c) {
    constexpr Index kLine = 64 / sizeof(S);
    for (Index i = 0; i < at.count; ++i)
      for (Index v = 0; v < kBlock<S>; v += kLine) __builtin_prefetch(at.rows[i] + c * kBlock<S> + v);
  }
};

template <class S, int bytes>
CERTUS_INLINE S step_blocks_body(const Steps<S>& steps, Blocks<S>& blocks, Index n, Index best, S least, S margin) {
  constexpr Index kAhead = 3;  // blocks from one that is stepped to to one that is asked for
  BlockStepper<S, bytes> stepper(steps, n);
  S* const most = blocks.most;
  Label* const taken = blocks.taken;
  S highest = kNever<S>, left_out = kNever<S>, first = kNever<S>;
  const auto step = [&](Index c) __attribute__((always_inline)) {
    const S sum = stepper.step(c);
    highest = fold_largest<S, bytes>(stepper.highest);
    least = larger(highest + margin, least);
    return sum;
  };
  const Index begun = most[best] >= least ? best : -1;
  if (begun >= 0) {
    first = step(best);
    most[best] = std::numeric_limits<S>::infinity();
  }
  Index candidates = 0;
  for (Index c = 0; c < block_count<S>(n); ++c) {
    const bool in = most[c] >= least;
    taken[candidates] = static_cast<Label>(c);
    candidates += in;
    left_out = larger(in ? kNever<S> : most[c], left_out);
    most[c] = in ? most[c] : kNever<S>;
  }
  blocks.count = 0;
  for (Index i = 0; i < std::min(kAhead, candidates); ++i) stepper.ask(taken[i]);
  for (Index i = 0; i < candidates; ++i) {
    const Index c = taken[i];
    if (i + kAhead < candidates) stepper.ask(taken[i + kAhead]);
    if (most[c] < least) {
      left_out = larger(most[c], left_out);
      most[c] = kNever<S>;
      continue;
    }
    most[c] = c == begun ? first : step(c);
    taken[blocks.count++] = static_cast<Label>(c);
  }
  blocks.left_out = left_out;
  return highest;
}

}  // namespace

#define CERTUS_BOTH(S)                                                                                             \
  CERTUS_BY_WIDTH(bool, scan, S, scan_body,                                                                        \
                  (const Scan<S>& at, S* near, S* own, Index n, Index positions, Index stride),                    \
                  (at, near, own, n, positions, stride))                                                           \
  CERTUS_BY_WIDTH(double, find_promise, S, find_promise_body,                                                      \
                  (const S* node, const double* inside, double lift, const double* outside, double rest, Index n), \
                  (node, inside, lift, outside, rest, n))                                                          \
  CERTUS_BY_WIDTH(void, promise, S, promise_body, (const Steps<S>& steps, Promises<S>& promises, Index n),         \
                  (steps, promises, n))                                                                            \
  CERTUS_BY_WIDTH(S, step_blocks, S, step_blocks_body,                                                             \
                  (const Steps<S>& steps, Blocks<S>& blocks, Index n, Index best, S least, S margin),              \
                  (steps, blocks, n, best, least, margin))
CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

}  // namespace certus
