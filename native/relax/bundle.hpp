// A proximal bundle: remember everything the parts said, and go where the model built of it is low.
#pragma once

#include "relax/columns.hpp"
#include "relax/optimizer.hpp"

namespace certus::relax {

// Minimises, instead of the dual, its model from below, near the best multipliers so far. Everything a part has chosen
// is a plane under its term of the dual; the model is the sum over parts of the highest of their planes. The next
// multipliers minimise the model plus the squared distance from the best ones, by 2t: a small quadratic program over
// mixtures of each part's choices (Lemaréchal 2001; Kiwiel 1990), which tend to the solution of the linear relaxation.
//
// t is chosen by levels (Lemaréchal, Nemirovskii & Nesterov 1995): the model shall fall to the best score known, which
// is where the dual has to go if the relaxation has no gap. Where the model cannot fall that far, neither can the dual,
// and a share of what it can is taken.
//
// At the dual's minimum several choices of a part are often equally good, and the parts do not agree. So every plane
// but those of the best whole is raised by `margin` times its distance from it, as in training with a margin: the
// multipliers then go to where the whole wins in every part, and the parts agree.
class Bundle final : public Optimizer {
 public:
  Bundle(Dual& dual, const OptimizerOptions& options);

  void start() override;
  bool next(const Whole& best) override;
  bool fill_average(std::vector<double>& average) const override;

 private:
  // gain_: the columns' values at the center with the margin; returns how far their model is to fall.
  double fill_gains(const Whole& best, double gap);
  // Chooses t so that the model falls as far as wanted, or by its share; returns how far it falls.
  double choose_step(double wanted, double floor);
  // The roundest multipliers near those of the mixture that the model likes as well, but for the slack: the minimum is
  // often where multipliers are simple, such as halves of whole-numbered scores; only there the dual is exactly what it
  // should be.
  void find_multipliers(double slack);
  void snap(double grid, std::vector<double>& snapped) const;
  double first_step(double gap, double floor);

  double level_, share_, margin_, now_ = 0;  // now_: the level
  Columns columns_;
  double best_ = 0, promised_ = 0;
  double longest_ = 0;  // a trusted step
  std::vector<double> center_, gain_, slopes_, values_, average_, following_, snapped_;
  std::vector<Index> split_;
};

}  // namespace certus::relax
