#include "learn/emissions.hpp"

#include "vector.hpp"

namespace certus::learn {
namespace {

CERTUS_CLONES void grow(const float* __restrict units, const std::int32_t* __restrict unit,
                        const float* __restrict above, const std::int32_t* __restrict parent, float* __restrict out,
                        Index n) {
  for (Index i = 0; i < n; ++i) out[i] = above[parent[i]] + units[unit[i]];
}
CERTUS_CLONES void gather(const float* __restrict sums, const std::int32_t* __restrict node, float* __restrict out,
                          Index n) {
  for (Index y = 0; y < n; ++y) out[y] = sums[node[y]];
}

}  // namespace

void Expansion::expand(const float* units, float* sums, float* labels) const {
  sums[0] = 0;
  for (std::size_t d = 1; d < level_.size(); ++d) {
    const Index begin = level_[d - 1];
    grow(units, unit_.data() + begin, sums, parent_.data() + begin, sums + begin, level_[d] - begin);
  }
  gather(sums, end_.data(), labels, labels_);
}

}  // namespace certus::learn
