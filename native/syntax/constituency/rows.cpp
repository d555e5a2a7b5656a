#include "syntax/constituency/rows.hpp"

#include <algorithm>

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

// `count` blocks if it is not 0, else as many as there are. Rows are short, so that vectors of more than kLanes would
// be half empty.
template <class S, int most, Index count>
CERTUS_INLINE LeftChild* raise_blocks(const Raise& raise, LeftChild* begin, LeftChild* end) {
  constexpr int bytes = std::min<int>(most, (count == 2 ? 2 : 1) * kLanes * sizeof(S));
  using V = typename Simd<S, bytes>::vector;
  const auto [rules, rows, widths, right, present, width, blocks, shift, carry] = raise;
  const Index size = (count > 0 ? count : blocks) * kLanes;
  for (LeftChild* child = begin; child != end; ++child)
    for (const std::int32_t* number = child->begin; number != child->end; ++number) {
      const Rules::Rule* rule = rules + *number;
      S* to = rows[rule->parent];
      if (!to) {
        child->begin = number;
        return child;
      }
      const std::uint64_t wider = present[rule->right] << shift;
      widths[rule->parent] |= wider | wider << carry;
      const V added = V{} + (child->score + rule->score);
      const S* from = right[rule->right] + 1;
      to += width + 1;
      for (Index x = 0; x < size; x += Simd<S, bytes>::width)
        store<S, bytes>(to + x, larger(load<S, bytes>(to + x), added + load<S, bytes>(from + x)));
    }
  return end;
}

template <class S, int bytes>
CERTUS_INLINE LeftChild* raise_rows_by(const Raise& raise, LeftChild* begin, LeftChild* end) {
  if (raise.blocks == 1) return raise_blocks<S, bytes, 1>(raise, begin, end);
  if (raise.blocks == 2) return raise_blocks<S, bytes, 2>(raise, begin, end);
  if (raise.blocks == 3) return raise_blocks<S, bytes, 3>(raise, begin, end);
  return raise_blocks<S, bytes, 0>(raise, begin, end);
}

}  // namespace

CERTUS_BY_WIDTH(LeftChild*, raise_rows, float, raise_rows_by, (const Raise& raise, LeftChild* begin, LeftChild* end),
                (raise, begin, end))

}  // namespace certus::syntax
