// Labels and what they are made of. A label's score is the sum of its units' scores: its coarse tag (the group it
// belongs to), itself, and its other parts, such as each morphological attribute (Müller et al. 2013, §2.4-2.5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/types.hpp"

namespace certus::scoring {

using Unit = std::uint32_t;

struct Tagset {
  Index labels = 0, groups = 0, units = 0;  // units 0 .. groups-1 are the coarse tags
  std::vector<Unit> group;                  // [labels]
  std::vector<std::uint32_t> begin;         // [labels + 1] into `parts`
  std::vector<Unit> parts;                  // the units of each label, the coarse tag first
  std::vector<std::uint32_t> member_begin;  // [groups + 1] into `members`
  std::vector<Label> members;               // the labels of each group
  std::vector<std::uint32_t> column_begin;  // [groups + 1] into `columns`
  std::vector<std::int32_t> columns;        // of each group [width][members]: parts, padded with the number of units

  // parts[y * width .. ) holds the units of label y, the coarse tag first, padded with -1.
  Tagset(const std::int32_t* table, Index label_count, Index width, Index group_count, Index unit_count)
      : labels(label_count), groups(group_count), units(unit_count), begin{0}, member_begin(group_count + 1, 0) {
    for (Index y = 0; y < labels; ++y) {
      for (Index k = 0; k < width && table[y * width + k] >= 0; ++k) {
        const Unit unit = static_cast<Unit>(table[y * width + k]);
        if (unit >= static_cast<Unit>(units) || (k == 0 && unit >= static_cast<Unit>(groups)))
          throw std::invalid_argument("a label has a part that does not exist");
        if (k == 0) group.push_back(unit);
        parts.push_back(unit);
      }
      if (static_cast<Index>(group.size()) != y + 1) throw std::invalid_argument("a label has no parts");
      begin.push_back(static_cast<std::uint32_t>(parts.size()));
    }
    for (const Unit g : group) ++member_begin[g + 1];
    if (std::find(member_begin.begin() + 1, member_begin.end(), 0u) != member_begin.end())
      throw std::invalid_argument("a coarse tag has no labels");
    for (Index g = 0; g < groups; ++g) member_begin[g + 1] += member_begin[g];
    members.resize(labels);
    std::vector<std::uint32_t> place(member_begin.begin(), member_begin.end() - 1);
    for (Index y = 0; y < labels; ++y) members[place[group[y]]++] = static_cast<Label>(y);
    lay_out();
  }

  // How many units a label has at most.
  Index count_parts() const {
    std::uint32_t most = 0;
    for (Index y = 0; y < labels; ++y) most = std::max(most, begin[y + 1] - begin[y]);
    return most;
  }

  // The score of a label, given those of all units.
  template <class X>
  X score(Label y, const X* unit) const {
    X sum = 0;
    for (std::uint32_t k = begin[y]; k < begin[y + 1]; ++k) sum += unit[parts[k]];
    return sum;
  }

 private:
  void lay_out() {
    column_begin.assign(1, 0);
    for (Index g = 0; g < groups; ++g) {
      const Label* const first = members.data() + member_begin[g];
      const std::uint32_t count = member_begin[g + 1] - member_begin[g];
      std::uint32_t width = 0;
      for (std::uint32_t i = 0; i < count; ++i) width = std::max(width, begin[first[i] + 1] - begin[first[i]]);
      columns.resize(column_begin.back() + std::size_t{width} * count, static_cast<std::int32_t>(units));
      std::int32_t* const into = columns.data() + column_begin.back();
      for (std::uint32_t i = 0; i < count; ++i)
        for (std::uint32_t k = begin[first[i]]; k < begin[first[i] + 1]; ++k)
          into[(k - begin[first[i]]) * count + i] = static_cast<std::int32_t>(parts[k]);
      column_begin.push_back(static_cast<std::uint32_t>(columns.size()));
    }
  }
};

}  // namespace certus::scoring
