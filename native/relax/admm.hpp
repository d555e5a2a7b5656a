// The alternating directions method of multipliers, as AD3 has it (Martins et al. 2015).
#pragma once

#include "relax/optimizer.hpp"
#include "relax/quadratic_program.hpp"

namespace certus::relax {

// Every part finds the mixture z of its structures with the highest expected score under the multipliers, less half of
// the penalty times the squared distance from the point u on which the parts are to agree; u becomes the mean of the
// mixtures over the copies of each variable; and the multipliers of a copy fall by the penalty times z - u. Parts that
// know the nearest point of their structures (Part::project) give it; others are asked for maxima by an active set. The
// penalty doubles where the mixtures are far from u and u hardly moves, and halves where it is the other way round
// (Boyd et al. 2011, section 3.4.1).
//
// Unlike steps along subgradients it converges to the minimum of the dual without steps that tend to zero, but no
// single iteration need lower the dual: the bound is that of the parts' maxima, as for all optimisers.
class Admm final : public Optimizer {
 public:
  // `penalty`: the first one; 0 for a share of what a cell is worth.
  Admm(Dual& dual, double penalty);

  void start() override;
  bool next(const Whole& best) override;
  bool fill_average(std::vector<double>& average) const override;

 private:
  void solve_part(Index p);
  bool project_part(Index p);
  // Sets the means; returns how far the mixtures are from them, and sets how far they moved, both squared.
  double agree(double* moved);
  void move_multipliers();

  double given_, penalty_ = 0;
  std::vector<Quadratic> programs_;             // [parts]
  std::vector<double> mixture_, mean_;          // [copies]; [variables]
  std::vector<double> toward_, aim_, nearest_;  // [copies]; by cell of one part
};

}  // namespace certus::relax
