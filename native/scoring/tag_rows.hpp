// Rows with a number for each coarse tag, and -inf for what makes vectors whole: what is done to all tags beside each
// other, in the max-plus kind of numbers or in logarithms of sums.
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace certus::scoring {

inline constexpr Index kTagBlock = 8;
inline Index pad_tags(Index n) { return (n + kTagBlock - 1) / kTagBlock * kTagBlock; }

// Numbers for pairs of coarse tags, a row for each.
struct TagPairs {
  const double* numbers;
  Index stride;

  const double* row(Index tag) const { return numbers + tag * stride; }
};

// A coarse tag that is gone on from, and what it scores: without and with n-grams that end with it.
struct TagLead {
  Index tag;
  double score, other = 0;
};

// What degenerate labels score, [stride] each, see RestScore.
struct RestRow {
  const float *own, *ending, *around;
};

// The ways that lead to a degenerate label, or from it: by n-grams of coarse tags alone, and with those of labels.
struct AloneRows {
  const double *alone, *own_alone;                   // to it
  const double *to_other, *to_label, *own_to_label;  // from it
  const double* excess;
};

// Of all of these `sum` says whether to take the logarithm of the sum of exp instead of the largest.

// x[i] = max over leads of first[tag][i] + score, y[i] = max of second[tag][i] + score
void lead_tags(bool sum, std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second, double* x,
               double* y);
// x[i] = max over leads of min(first[tag][i] + score, second[tag][i] + other)
void lead_tags_either_way(bool sum, std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                          double* x);
// after[i] = max(ending[i] + to_other[i],
//                excess[i] + max over leads of min(around[i] + first[tag][i], ending[i] + second[tag][i]) + score)
// entering[i] = own[i] + max(to_other[i], excess[i] + own_to_label[i])
void pass_rests(bool sum, std::span<const TagLead> leads, const TagPairs& first, const TagPairs& second,
                const RestRow& rest, const AloneRows& on, double* after, double* entering);
// The largest scores through degenerate labels: ends[i] = min(own_alone[i] + own[i], alone[i] + ending[i]),
// x[i] = max(ends[i] + to_other[i], excess[i] + min(alone[i] + around[i] + to_label[i], ends[i] + own_to_label[i]))
void bound_rests(const RestRow& rest, const AloneRows& rows, Index stride, double* x);
// Lists the places of all numbers above a limit; whether any other is not -inf.
bool list_above(const double* x, double limit, Index stride, std::vector<Index>& out);

}  // namespace certus::scoring
