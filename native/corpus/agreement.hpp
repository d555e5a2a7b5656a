// How the label of a word and the label of its consensus node score together (Rush et al. 2012, §4).
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.hpp"

namespace certus::corpus {

// same >= close >= null >= 0. The consensus label `labels` stands for none: the constraint is turned off. A word of a
// sequence of which only a bound is known has the label `any`, which agrees with whatever its node has.
struct Agreement {
  double same = 0, close = 0, null = 0;
  std::vector<Label> group;  // [labels]: labels of a group are close to one another

  Index labels() const { return static_cast<Index>(group.size()); }
  Label none() const { return static_cast<Label>(group.size()); }
  Label any() const { return none() + 1; }

  // Where no two labels are close, what they would score is not asked for.
  void drop_idle_weight() {
    std::vector<Label> sorted = group;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) close = 0;
  }

  bool is_close(Label word, Label consensus) const { return word != any() && group[word] == group[consensus]; }
  double operator()(Label word, Label consensus) const {
    if (consensus == none()) return null;
    if (word == consensus || word == any()) return same;
    return is_close(word, consensus) ? close : 0;
  }
};

}  // namespace certus::corpus
