// The transitions between the states of one sentence: a matrix that all steps share, or one for each step.
#pragma once

#include <cstdint>
#include <vector>

#include "chain/run.hpp"

namespace certus::latent {

class Moves {
 public:
  // scores [steps][H][H] (-inf forbids), of one step that is shared by all, or of each; start and end [H] may be null.
  Moves(std::vector<double> scores, Index states, bool shared, const double* start, const double* end);

  const Model<double>& chain() const { return chain_; }
  bool shared() const { return stride_ == 0; }
  // What belongs to the step into position t >= 1.
  const double* score(Index t) const { return scores_.data() + (t - 1) * stride_; }  // [H][H]
  double largest(Index t) const { return extents_[shared() ? 0 : t - 1].largest; }   // that is not forbidden
  double span(Index t) const { return extents_[shared() ? 0 : t - 1].span; }         // the largest less the least
  // Whether states that lead on lead to different ones. Where they do not, what is forbidden are states as a whole:
  // those that nothing leads to, and those that lead nowhere.
  bool separates() const { return separates_; }

 private:
  struct Extent {
    double largest = 0, span = 0;
  };

  std::vector<double> scores_;
  Index stride_;
  std::vector<Extent> extents_;
  bool separates_ = false;
  Model<double> chain_;
};

}  // namespace certus::latent
