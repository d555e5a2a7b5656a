#include "learn/feature_table.hpp"

#include <cstring>

#include "vector.hpp"

namespace certus::learn {

CERTUS_CLONES void FeatureTable::add_dense(const std::uint32_t* weights, std::int32_t* __restrict sums, Index units) {
  typedef std::int16_t half __attribute__((aligned(2), may_alias));
  const half* __restrict w = reinterpret_cast<const half*>(weights);
  for (Index u = 0; u < units; ++u) sums[u] += w[u];
}

}  // namespace certus::learn
