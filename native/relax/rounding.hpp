// Answers from multipliers: the parts choose one after the other, each under what those before it chose.
#pragma once

#include "relax/dual.hpp"

namespace certus::relax {

class Rounding {
 public:
  explicit Rounding(Dual& dual) : dual_(dual), problem_(dual.problem()) {}

  double best() const { return best_; }                            // the highest score so far, -inf while there is none
  const std::vector<std::int8_t>& on() const { return best_on_; }  // [variables] of the answer that has it

  // Lets the open parts choose, in their order or against it.
  void round(bool forward);
  // Takes what the parts have chosen, where they agree.
  void take();

 private:
  bool choose(Index p);
  void offer(double score);

  Dual& dual_;
  const Problem& problem_;
  double best_ = kNever<double>, score_ = 0;
  std::vector<std::int8_t> best_on_, on_;
  std::vector<Index> used_;
};

}  // namespace certus::relax
