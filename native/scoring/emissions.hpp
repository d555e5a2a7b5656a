// From the scores of units to those of labels. Here and below, the scores of units have one element more than there
// are units, which is 0.
#pragma once

#include "scoring/tagset.hpp"

namespace certus::scoring {

// The scores of all labels. Labels have most of their parts in common with others, so sums are taken along a tree:
// each node adds a part to its parent's sum; a label adds to a node's sum its last part, and the one that is its own.
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
  std::vector<std::int32_t> end_, last_;     // [labels]: their nodes, and their last parts
  std::vector<std::int32_t> own_;            // [labels]: the parts that nobody shares; empty where they are consecutive
  Unit first_own_ = 0;
};

// The scores of the labels of one group, in the order of `members`.
void expand_group(const Tagset& tagset, Index group, const float* units, float* members);

}  // namespace certus::scoring
