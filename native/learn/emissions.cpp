#include "learn/emissions.hpp"

#include "vector.hpp"

namespace certus::learn {
namespace {

CERTUS_CLONES void gather(const float* __restrict units, const std::int32_t* __restrict unit, float* __restrict out,
                          Index n) {
  for (Index y = 0; y < n; ++y) out[y] = units[unit[y]];
}
CERTUS_CLONES void gather_add(const float* __restrict units, const std::int32_t* __restrict unit,
                              float* __restrict out, Index n) {
  for (Index y = 0; y < n; ++y) out[y] += units[unit[y]];
}

}  // namespace

void Expansion::expand(const float* units, float* labels) const {
  gather(units, unit_.data(), labels, labels_);
  for (Index k = 1; k < width_; ++k) gather_add(units, unit_.data() + k * labels_, labels, labels_);
}

}  // namespace certus::learn
