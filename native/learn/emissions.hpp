// From the scores of units to those of all labels, a column of parts at a time, so that it vectorises.
#pragma once

#include "learn/tagset.hpp"

namespace certus::learn {

class Expansion {
 public:
  explicit Expansion(const Tagset& tagset) : labels_(tagset.labels), none_(tagset.units) {
    for (Index y = 0; y < labels_; ++y) width_ = std::max<Index>(width_, tagset.begin[y + 1] - tagset.begin[y]);
    unit_.assign(width_ * labels_, static_cast<std::int32_t>(none_));
    for (Index y = 0; y < labels_; ++y)
      for (std::uint32_t k = tagset.begin[y]; k < tagset.begin[y + 1]; ++k)
        unit_[(k - tagset.begin[y]) * labels_ + y] = static_cast<std::int32_t>(tagset.parts[k]);
  }

  // Scores of units must have one element more than there are units, which is 0.
  void expand(const float* units, float* labels) const;

 private:
  Index labels_, none_, width_ = 0;
  std::vector<std::int32_t> unit_;  // [width][labels]
};

}  // namespace certus::learn
