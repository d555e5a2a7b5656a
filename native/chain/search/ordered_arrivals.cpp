#include "chain/search/ordered_arrivals.hpp"

#include "base/widths.hpp"

namespace certus {
namespace {

template <class S, int bytes>
CERTUS_INLINE void raise_rows_body(S* acc, const S* const* rows, const S* alpha, Index count, Index width) {
  using V = typename Simd<S, bytes>::vector;
  using U = typename Simd<S, bytes>::unaligned;
  constexpr Index W = Simd<S, bytes>::width, N = 8;  // vectors of maxima that stay in registers while rows pass by
  static_assert(kPad % W == 0);
  for (Index j = 0; j < width; j += N * W) {
    const Index left = std::min(N, (width - j) / W);
    if (left == N) {
      V best[N];
      for (Index n = 0; n < N; ++n) best[n] = *reinterpret_cast<const U*>(acc + j + n * W);
      for (Index i = 0; i < count; ++i) {
        const V from = alpha[i] - V{};
        for (Index n = 0; n < N; ++n)
          best[n] = larger(from + *reinterpret_cast<const U*>(rows[i] + j + n * W), best[n]);
      }
      for (Index n = 0; n < N; ++n) *reinterpret_cast<U*>(acc + j + n * W) = best[n];
    } else {
      for (Index y = j; y < j + left * W; y += W) {
        V best = *reinterpret_cast<const U*>(acc + y);
        for (Index i = 0; i < count; ++i) best = larger(alpha[i] + *reinterpret_cast<const U*>(rows[i] + y), best);
        *reinterpret_cast<U*>(acc + y) = best;
      }
    }
  }
}

}  // namespace

#define CERTUS_BOTH(S)                                                                       \
  CERTUS_BY_WIDTH(void, raise_rows, S, raise_rows_body,                                      \
                  (S * acc, const S* const* rows, const S* alpha, Index count, Index width), \
                  (acc, rows, alpha, count, width))                                          \
  CERTUS_CLONES Index count_open(const S* acc, const S* incoming, S next, Index n) {         \
    Index count = 0;                                                                         \
    for (Index j = 0; j < n; ++j) count += acc[j] < next + incoming[j];                      \
    return count;                                                                            \
  }
CERTUS_BOTH(float)
CERTUS_BOTH(double)
#undef CERTUS_BOTH

}  // namespace certus
