// From the scores of units to those of labels, a column of parts at a time, so that it vectorises.
#pragma once

#include "learn/tagset.hpp"

namespace certus::learn {

// The scores of all labels. Those of units must have one element more than there are units, which is 0; here and below.
class Expansion {
 public:
  explicit Expansion(const Tagset& tagset);

  void expand(const float* units, float* labels) const;

 private:
  Index labels_, width_ = 0;
  std::vector<std::int32_t> unit_;  // [width][labels]
};

// The scores of the labels of one group, in the order of `members`.
void expand_group(const Tagset& tagset, Index group, const float* units, float* members);

}  // namespace certus::learn
