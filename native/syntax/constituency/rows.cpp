#include "syntax/constituency/rows.hpp"

#include "base/widths.hpp"

namespace certus::syntax {
namespace {

template <class S, int bytes>
CERTUS_INLINE typename Simd<S, bytes>::vector load(const S* p) {
  return *reinterpret_cast<const typename Simd<S, bytes>::unaligned*>(p);
}
template <class S, int bytes>
CERTUS_INLINE void store(S* p, typename Simd<S, bytes>::vector v) {
  *reinterpret_cast<typename Simd<S, bytes>::unaligned*>(p) = v;
}

template <class S, int bytes>
CERTUS_INLINE bool best_sums_by(S* out, const S* const* from, Index count, Index blocks) {
  using V = typename Simd<S, bytes>::vector;
  constexpr Index width = Simd<S, bytes>::width;
  const V never = V{} + kNever<S>;
  V most = never;
  for (Index i = 0; i < blocks * kLanes; i += width) {
    V best = never;
    for (Index n = 0; n < 2 * count; n += 2)
      best = larger(best, load<S, bytes>(from[n] + i) + load<S, bytes>(from[n + 1] + i));
    store<S, bytes>(out + i, best);
    most = larger(most, best);
  }
  return fold_largest<S, bytes>(most) > kNever<S>;
}

template <class S, int bytes>
CERTUS_INLINE void raise_row_by(S* row, const S* from, S score, Index blocks) {
  const typename Simd<S, bytes>::vector added = typename Simd<S, bytes>::vector{} + score;
  for (Index i = 0; i < blocks * kLanes; i += Simd<S, bytes>::width)
    store<S, bytes>(row + i, larger(load<S, bytes>(row + i), load<S, bytes>(from + i) + added));
}

template <class S, int bytes>
CERTUS_INLINE S largest_by(const S* row, Index blocks) {
  constexpr Index width = Simd<S, bytes>::width;
  typename Simd<S, bytes>::vector most = load<S, bytes>(row);
  for (Index i = width; i < blocks * kLanes; i += width) most = larger(most, load<S, bytes>(row + i));
  return fold_largest<S, bytes>(most);
}

template <class S, int bytes>
CERTUS_INLINE S sums_through_by(S* out, const S* above, S score, const S* left, const S* right, Index blocks) {
  using V = typename Simd<S, bytes>::vector;
  const V added = V{} + score;
  V most = V{} + kNever<S>;
  for (Index i = 0; i < blocks * kLanes; i += Simd<S, bytes>::width) {
    const V sum = (load<S, bytes>(above + i) + added) + (load<S, bytes>(left + i) + load<S, bytes>(right + i));
    store<S, bytes>(out + i, sum);
    most = larger(most, sum);
  }
  return fold_largest<S, bytes>(most);
}

}  // namespace

CERTUS_BY_WIDTH(bool, best_sums, float, best_sums_by, (float* out, const float* const* from, Index count, Index blocks),
                (out, from, count, blocks))
CERTUS_BY_WIDTH(void, raise_row, float, raise_row_by, (float* row, const float* from, float score, Index blocks),
                (row, from, score, blocks))
CERTUS_BY_WIDTH(float, largest, float, largest_by, (const float* row, Index blocks), (row, blocks))
CERTUS_BY_WIDTH(float, sums_through, float, sums_through_by,
                (float* out, const float* above, float score, const float* left, const float* right, Index blocks),
                (out, above, score, left, right, blocks))

}  // namespace certus::syntax
