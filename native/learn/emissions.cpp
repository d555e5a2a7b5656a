#include "learn/emissions.hpp"

#include "vector.hpp"

namespace certus::learn {
namespace {

// out[y] = the sum over k of units[unit[k][y]], with `unit` of [width][n].
CERTUS_CLONES void gather(const float* __restrict units, const std::int32_t* __restrict unit, float* __restrict out,
                          Index n, Index width) {
  for (Index y = 0; y < n; ++y) out[y] = units[unit[y]];
  for (Index k = 1; k < width; ++k)
    for (Index y = 0; y < n; ++y) out[y] += units[unit[k * n + y]];
}

}  // namespace

Expansion::Expansion(const Tagset& tagset) : labels_(tagset.labels) {
  for (Index y = 0; y < labels_; ++y) width_ = std::max<Index>(width_, tagset.begin[y + 1] - tagset.begin[y]);
  unit_.assign(width_ * labels_, static_cast<std::int32_t>(tagset.units));
  for (Index y = 0; y < labels_; ++y)
    for (std::uint32_t k = tagset.begin[y]; k < tagset.begin[y + 1]; ++k)
      unit_[(k - tagset.begin[y]) * labels_ + y] = static_cast<std::int32_t>(tagset.parts[k]);
}

void Expansion::expand(const float* units, float* labels) const { gather(units, unit_.data(), labels, labels_, width_); }

void expand_group(const Tagset& tagset, Index group, const float* units, float* members) {
  const Index n = tagset.member_begin[group + 1] - tagset.member_begin[group];
  if (n == 0) return;
  const std::uint32_t first = tagset.column_begin[group];
  gather(units, tagset.columns.data() + first, members, n, (tagset.column_begin[group + 1] - first) / n);
}

}  // namespace certus::learn
