// From the scores of units to those of all labels. Labels have most of their parts in common with others, so sums are
// taken along a tree: each node adds a part to its parent's sum, and a label ends at a node.
#pragma once

#include <algorithm>
#include <map>

#include "learn/tagset.hpp"

namespace certus::learn {

class Expansion {
 public:
  explicit Expansion(const Tagset& tagset) : labels_(tagset.labels) {
    std::vector<Index> uses(tagset.units, 0);
    for (const Unit u : tagset.parts) ++uses[u];
    // Parts that many labels have come first, so that they are shared.
    std::vector<std::vector<Unit>> paths(labels_);
    Index depth = 0;
    for (Index y = 0; y < labels_; ++y) {
      paths[y].assign(tagset.parts.begin() + tagset.begin[y], tagset.parts.begin() + tagset.begin[y + 1]);
      std::sort(paths[y].begin(), paths[y].end(),
                [&](Unit a, Unit b) { return uses[a] != uses[b] ? uses[a] > uses[b] : a < b; });
      depth = std::max(depth, static_cast<Index>(paths[y].size()));
    }
    end_.resize(labels_);
    std::vector<std::int32_t> at(labels_, 0);
    parent_.push_back(0), unit_.push_back(static_cast<std::int32_t>(tagset.units)), level_.push_back(1);
    for (Index d = 0; d < depth; ++d) {
      std::map<std::pair<std::int32_t, Unit>, std::int32_t> children;
      for (Index y = 0; y < labels_; ++y) {
        if (d >= static_cast<Index>(paths[y].size())) continue;
        const auto [child, made] = children.try_emplace({at[y], paths[y][d]}, static_cast<std::int32_t>(parent_.size()));
        if (made) parent_.push_back(at[y]), unit_.push_back(static_cast<std::int32_t>(paths[y][d]));
        at[y] = child->second;
      }
      level_.push_back(static_cast<Index>(parent_.size()));
    }
    std::copy(at.begin(), at.end(), end_.begin());
  }

  // `units` has one element more than there are units, which is 0; `sums` is of size nodes().
  void expand(const float* units, float* sums, float* labels) const;
  Index nodes() const { return static_cast<Index>(parent_.size()); }

 private:
  Index labels_;
  std::vector<std::int32_t> parent_, unit_;  // [nodes]; node 0 is the root
  std::vector<Index> level_;                 // [depth + 1]: where the nodes of each depth end
  std::vector<std::int32_t> end_;            // [labels]: their nodes
};

}  // namespace certus::learn
