// What labels that are no candidates add up to, with what n-grams may add to each of them.
#pragma once

#include <vector>

#include "scoring/cascade.hpp"

namespace certus::scoring {

// The scores of the units at all tokens, for each one more than there are units, which is 0.
struct UnitScores {
  const float* first = nullptr;
  std::size_t stride = 0;

  // Of the token at a position of a cascade.
  const float* at(Index t) const { return first + static_cast<std::size_t>(t - 1) * stride; }
};

// exp of what n-grams may add to labels, see NgramBounds; by place.
class RestTables {
 public:
  RestTables(const NgramBounds& bounds, Index order);

  const float* ending(Index t) const { return (t < order_ ? early_ending_ : ending_).data(); }
  const float* around(Index t) const { return (t < order_ ? early_around_ : around_).data(); }
  const float* ending_after(Unit group) const { return ending_after_.data() + group * places_; }
  const float* leaving_to(Unit group) const { return leaving_to_.data() + group * places_; }

 private:
  Index order_;
  std::size_t places_;
  std::vector<float> early_ending_, early_around_, ending_, around_, ending_after_, leaving_to_;
};

class RestSums {
 public:
  // Makes the scores of degenerate labels the logarithms of sums, for a cascade that has a lattice of order 1.
  void find(Cascade& cascade, const RestTables& tables, const Allowed* allowed, const UnitScores& units);

  // By the ways on from a position: of all from a coarse tag, the logarithms of the sums to degenerate labels, and to
  // the coarse tags of candidates, which `leads` lists. `coarse` are the pairs of tags that such a step has.
  void go_through(Index t, std::span<const TagLead> leads, const TagPairs& coarse, const double* to_other,
                  const double* excess);
  // Then from a coarse tag of the position before to all degenerate labels of that position; `coarse` as above.
  double lead_from(Unit before, const TagPairs& coarse) const;

 private:
  RestScore add_up(Index t, Index group, const float* weights) const;

  const NgramBounds* bounds_ = nullptr;
  const RestTables* tables_ = nullptr;
  std::vector<float> scores_, weights_;  // [places], [T][places]: exp(score - shift), 0 for candidates
  std::vector<double> shifts_;           // [T]
  std::vector<float> through_;           // [places]: exp of the ways on from before each label,
  double through_shift_ = 0;             // less this; infinite where they are not known
};

}  // namespace certus::scoring
