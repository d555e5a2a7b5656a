#include "learn/rows.hpp"

#include "base/vector.hpp"

namespace certus::learn {

CERTUS_CLONES void Rows::add(const float* __restrict weights, float* __restrict scores, Index n) {
  for (Index u = 0; u < n; ++u) scores[u] += weights[u];
}

}  // namespace certus::learn
