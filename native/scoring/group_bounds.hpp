// What labels of a coarse tag score at most, from the scores of units alone: much cheaper than the labels themselves.
//
// The units of labels are put into columns such that no label has two of one column. A label then scores at most the
// sum over columns of the largest unit there that labels of its coarse tag have; units that one of these labels alone
// has are a column, too, with what is known of that label besides. All coarse tags are bounded together, beside each
// other.
#pragma once

#include <vector>

#include "scoring/ngram_bounds.hpp"

namespace certus::scoring {

// The largest x[i], x[i] + ending[i] and x[i] + around[i]; all of them have NgramBounds::kBlock numbers more, which do
// not count.
RestScore find_largest_sums(const float* x, const float* ending, const float* around, Index n);

class GroupBounds {
 public:
  GroupBounds(const Tagset& tagset, const NgramBounds& places);

  // For a token, by the scores of units (one element more than there are units, which is 0): of each coarse tag of the
  // tag set the sum over columns of the largest units, and the largest unit that any label has alone. `memory` is used
  // from token to token.
  struct Sums {
    const float* columns;
    float own;
  };
  Sums add_up(const float* units, std::vector<float>& memory) const;
  // Upper bounds over all labels of a coarse tag, given the sum over its columns, with what n-grams may add, by place.
  RestScore find(Index group, float columns, const float* units, const float* ending, const float* around) const;

 private:
  // A unit that labels of a coarse tag have, in a column.
  struct Entry {
    std::uint32_t unit, cell;  // in [columns][width_]
  };
  struct Group {
    Index first_place = 0, size = 0;
    std::int32_t first_own = -1;  // where the units that labels have alone are consecutive
    std::uint32_t own = 0;        // else: where they begin in `own_units_`
  };
  std::vector<std::int32_t> find_own(const Tagset& tagset, Index group);
  static void spread_out(std::vector<Entry>& entries);
  void put_into_columns(const Tagset& tagset, const std::vector<std::int32_t>& own);

  Index none_;                           // the unit that is always 0
  Index least_own_ = 0, count_own_ = 0;  // the units that labels have alone are among these
  Index width_ = 0;                      // of rows: the coarse tags, and what makes vectors whole
  std::vector<Group> groups_;
  std::vector<std::int32_t> own_units_;
  std::vector<float> start_;  // [columns][width]: 0 where some label of a coarse tag has no unit in a column, or -inf
  std::vector<Entry> single_;
  std::vector<Unit> many_;             // units that labels of several coarse tags have, by column;
  std::vector<std::size_t> many_end_;  // [columns]: where those of a column end
  std::vector<float> masks_;           // [many][width]: 0 for coarse tags that have a unit, or -inf
};

}  // namespace certus::scoring
