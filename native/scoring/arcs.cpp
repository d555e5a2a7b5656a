#include "scoring/arcs.hpp"

#include "base/vector.hpp"

namespace certus::scoring {

CERTUS_CLONES void add_row(const float* row, float* sums, Index count) {
  const float* __restrict w = row;
  float* __restrict s = sums;
  for (Index r = 0; r < count; ++r) s[r] += w[r];
}

CERTUS_CLONES void add_row(const std::int16_t* row, std::int32_t* sums, Index count) {
  const std::int16_t* __restrict w = row;
  std::int32_t* __restrict s = sums;
  for (Index r = 0; r < count; ++r) s[r] += w[r];
}

}  // namespace certus::scoring
