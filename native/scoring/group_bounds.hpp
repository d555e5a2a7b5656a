// What labels of a coarse tag score at most, from the scores of units alone: much cheaper than the labels themselves.
//
// The units of a coarse tag's labels are put into columns such that no label has two of one column. A label then scores
// at most the sum over columns of the largest unit there; units that one label alone has are a column, too, with what
// is known of that label besides.
#pragma once

#include <vector>

#include "scoring/ngram_bounds.hpp"

namespace certus::scoring {

// What labels score at most: by themselves, with n-grams of labels that end with them, and also with those that end
// with the next label.
struct RestScore {
  float own = kNever<float>, ending = kNever<float>, around = kNever<float>;

  void raise(const RestScore& other) {
    own = std::max(own, other.own), ending = std::max(ending, other.ending), around = std::max(around, other.around);
  }
  void add(float score) { own += score, ending += score, around += score; }
};

// The largest x[i], x[i] + ending[i] and x[i] + around[i].
RestScore find_largest_sums(const float* x, const float* ending, const float* around, Index n);

class GroupBounds {
 public:
  GroupBounds(const Tagset& tagset, const NgramBounds& places);

  // Upper bounds over all labels of a coarse tag of the tag set, by the scores of units (one element more than there
  // are units, which is 0) and what n-grams may add, by place.
  RestScore find(Index group, const float* units, const float* ending, const float* around) const;

 private:
  void put_into_columns(const Tagset& tagset, Index group);

  struct Group {
    Index first_place = 0, size = 0;
    std::int32_t first_own = -1;              // where the units that labels have alone are consecutive
    std::uint32_t own = 0;                    // else: where they begin in `units_`
    std::uint32_t first_column = 0, columns;  // in `column_begin_`
  };
  Index none_;  // the unit that is always 0
  std::vector<Group> groups_;
  std::vector<std::int32_t> units_;
  std::vector<std::uint32_t> column_begin_;  // into `units_`; a group has one more than columns
};

}  // namespace certus::scoring
