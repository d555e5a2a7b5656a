#include "scoring/arcs.hpp"

#include <algorithm>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

constexpr Index kBlock = 16;  // relations at a time

// One block of sums stays in a register while all rows go by. The last block ends with the row, so that it may overlap
// the one before.
template <class W, class Sum>
CERTUS_INLINE void add_blocks(const W* weights, const features::Place* places, Index size, Index count, Sum* sums) {
  using Row = typename Simd<W, kBlock * sizeof(W)>::unaligned;
  using Total = typename Simd<Sum, kBlock * sizeof(Sum)>::vector;
  for (Index r = 0; r < count; r += kBlock) {
    const Index first = std::min(r, count - kBlock);
    Total total{};
    for (Index p = 0; p < size; ++p)
      total += __builtin_convertvector(*reinterpret_cast<const Row*>(weights + places[p] + first), Total);
    __builtin_memcpy(sums + first, &total, sizeof total);
  }
}

template <class W, class Sum>
CERTUS_INLINE void add_few(const W* weights, const features::Place* places, Index size, Index count, Sum* sums) {
  std::fill_n(sums, count, Sum{0});
  for (Index p = 0; p < size; ++p)
    for (Index r = 0; r < count; ++r) sums[r] += weights[places[p] + r];
}

}  // namespace

CERTUS_CLONES void add_rows(const float* weights, const features::Place* places, Index size, Index count, float* sums) {
  if (count < kBlock) add_few(weights, places, size, count, sums);
  else add_blocks(weights, places, size, count, sums);
}

CERTUS_CLONES void add_rows(const std::int16_t* weights, const features::Place* places, Index size, Index count,
                            std::int32_t* sums) {
  if (count < kBlock) add_few(weights, places, size, count, sums);
  else add_blocks(weights, places, size, count, sums);
}

}  // namespace certus::scoring
