// From the scores of units to those of labels. Here and below, the scores of units have one element more than there
// are units, which is 0.
#pragma once

#include "learn/tagset.hpp"

namespace certus::learn {

// The scores of all labels. Labels have most of their parts in common with others, so sums are taken along a tree:
// each node adds a part to its parent's sum; a label ends at a node, and adds the part that is its own.
class Expansion {
 public:
  explicit Expansion(const Tagset& tagset);

  // `sums` is of size nodes().
  void expand(const float* units, float* sums, float* labels) const;
  Index nodes() const { return static_cast<Index>(parent_.size()); }

 private:
  Index labels_;
  std::vector<std::int32_t> parent_, unit_;  // [nodes]; node 0 is the root
  std::vector<Index> level_;                 // [depth + 1]: where the nodes of each depth end
  std::vector<std::int32_t> end_, own_;      // [labels]: their nodes, and the parts that nobody shares
};

// The scores of the labels of one group, in the order of `members`.
void expand_group(const Tagset& tagset, Index group, const float* units, float* members);

}  // namespace certus::learn
