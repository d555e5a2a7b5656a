// Subgradient descent with the step rules of the papers.
#pragma once

#include "relax/optimizer.hpp"

namespace certus::relax {

// Moves every copy's multiplier against its deviation from the mean of its variable. With two parts this is figure 1 of
// Rush et al. (2010), u <- u - step (y - z); with more it is the update of Komodakis et al. (2007).
//
// The steps, with t the number of times that the dual rose from one iteration to the next:
//   halving   step / 2^t (Rush et al. 2010, appendix B)
//   koo       step / (1 + t), where step is the gap after the first iteration (Koo et al. 2010, appendix A.1)
//   inverse   the same by the number of copies in disagreement, so that many of them do not move too far
//   decay     step * 0.95^k after k iterations, whatever the dual does
//   chang     step * 0.95^k after k iterations that did not lower the dual (Chang & Collins 2011)
//   polyak    (dual - best score) / |subgradient|^2, times step
class Subgradient final : public Optimizer {
 public:
  Subgradient(Dual& dual, StepRule rule, double step);

  void start() override;
  bool next(const Whole& best) override;

 private:
  double find_length(double gap, double square);
  void move(Index v);

  StepRule rule_;
  double given_, first_ = 0;
  Index rises_ = 0, idle_ = 0, iterations_ = 0;
  double last_ = 0;
  std::vector<Index> split_;
};

}  // namespace certus::relax
