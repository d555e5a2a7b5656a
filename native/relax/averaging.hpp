// Block coordinate descent over all variables at once: every part tells what each of its cells is worth, and the worth
// is evened out.
#pragma once

#include "relax/optimizer.hpp"

namespace certus::relax {

// Moves what each copy of a variable is worth to its part towards the mean of them. For one variable at a time, making
// them equal minimises the dual exactly (Globerson & Jaakkola 2007; Kolmogorov 2006); here all variables move at once,
// by a share that shrinks when the dual rises. Like all coordinate descent it may stall above the minimum.
class Averaging final : public Optimizer {
 public:
  Averaging(Dual& dual, double share) : Optimizer(dual), share_(share) {}

  void start() override;
  bool next(const Whole& best) override;

 private:
  double share_, best_ = 0;
  std::vector<double> worths_;
};

}  // namespace certus::relax
