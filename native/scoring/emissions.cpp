#include "scoring/emissions.hpp"

#include <algorithm>
#include <map>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

// out[i] = x[a[i]] + y[b[i]]
CERTUS_CLONES void add_gathered(const float* x, const std::int32_t* __restrict a, const float* __restrict y,
                                const std::int32_t* __restrict b, float* __restrict out, Index n) {
  for (Index i = 0; i < n; ++i) out[i] = x[a[i]] + y[b[i]];
}

// out[i] += y[b[i]]
CERTUS_CLONES void add_more(const float* __restrict y, const std::int32_t* __restrict b, float* __restrict out,
                            Index n) {
  for (Index i = 0; i < n; ++i) out[i] += y[b[i]];
}
CERTUS_CLONES void add_row(const float* __restrict y, float* __restrict out, Index n) {
  for (Index i = 0; i < n; ++i) out[i] += y[i];
}

// out[y] = the sum over k of units[unit[k][y]], with `unit` of [width][n].
CERTUS_CLONES void gather(const float* __restrict units, const std::int32_t* __restrict unit, float* __restrict out,
                          Index n, Index width) {
  for (Index y = 0; y < n; ++y) out[y] = units[unit[y]];
  for (Index k = 1; k < width; ++k)
    for (Index y = 0; y < n; ++y) out[y] += units[unit[k * n + y]];
}

}  // namespace

Expansion::Expansion(const Tagset& tagset) : labels_(tagset.labels), level_{1}, end_(labels_, 0), last_(labels_) {
  const auto none = static_cast<std::int32_t>(tagset.units);
  std::vector<Index> uses(tagset.units, 0);
  for (const Unit u : tagset.parts) ++uses[u];
  own_.assign(labels_, none);
  parent_.push_back(0), unit_.push_back(none);
  // Parts that many labels have come first, so that they are shared.
  std::vector<std::vector<Unit>> paths(labels_);
  std::size_t depth = 0;
  for (Index y = 0; y < labels_; ++y) {
    std::vector<Unit>& path = paths[y];
    path.assign(tagset.parts.begin() + tagset.begin[y], tagset.parts.begin() + tagset.begin[y + 1]);
    std::sort(path.begin(), path.end(), [&](Unit a, Unit b) { return uses[a] != uses[b] ? uses[a] > uses[b] : a < b; });
    // Where the units of labels follow those of coarse tags, as they usually do, own parts are consecutive.
    const auto usual = std::find(path.begin(), path.end(), static_cast<Unit>(tagset.groups + y));
    const auto own = usual != path.end() ? usual : path.end() - 1;
    if (uses[*own] == 1) own_[y] = static_cast<std::int32_t>(*own), path.erase(own);
    last_[y] = path.empty() ? none : static_cast<std::int32_t>(path.back());
    if (!path.empty()) path.pop_back();
    depth = std::max(depth, path.size());
  }
  for (std::size_t d = 0; d < depth; ++d) {
    std::map<std::pair<std::int32_t, Unit>, std::int32_t> children;
    for (Index y = 0; y < labels_; ++y) {
      if (d >= paths[y].size()) continue;
      const auto [child, made] = children.try_emplace({end_[y], paths[y][d]}, static_cast<std::int32_t>(nodes()));
      if (made) parent_.push_back(end_[y]), unit_.push_back(static_cast<std::int32_t>(paths[y][d]));
      end_[y] = child->second;
    }
    level_.push_back(nodes());
  }
  first_own_ = static_cast<Unit>(own_[0]);
  bool consecutive = true;
  for (Index y = 0; y < labels_; ++y) consecutive &= own_[y] == own_[0] + y;
  if (consecutive) own_.clear();
}

void Expansion::expand(const float* units, float* sums, float* labels) const {
  sums[0] = 0;
  for (std::size_t d = 1; d < level_.size(); ++d) {
    const Index begin = level_[d - 1];
    add_gathered(sums, parent_.data() + begin, units, unit_.data() + begin, sums + begin, level_[d] - begin);
  }
  add_gathered(sums, end_.data(), units, last_.data(), labels, labels_);
  if (own_.empty()) add_row(units + first_own_, labels, labels_);
  else add_more(units, own_.data(), labels, labels_);
}

void expand_group(const Tagset& tagset, Index group, const float* units, float* members) {
  const Index n = tagset.member_begin[group + 1] - tagset.member_begin[group];
  if (n == 0) return;
  const std::uint32_t first = tagset.column_begin[group];
  gather(units, tagset.columns.data() + first, members, n, (tagset.column_begin[group + 1] - first) / n);
}

}  // namespace certus::scoring
