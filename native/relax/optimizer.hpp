// A way to minimise the dual: it looks at what the parts chose at some multipliers, and moves them.
#pragma once

#include <vector>

#include "relax/dual.hpp"
#include "relax/rounding.hpp"

namespace certus::relax {

enum class Method : std::uint8_t { automatic, subgradient, bundle, descent, admm };

// How the step of a subgradient method shrinks; subgradient.hpp says what each is.
enum class StepRule : std::uint8_t { halving, inverse, decay, polyak, koo, chang };

struct OptimizerOptions {
  Method method = Method::automatic;
  StepRule rule = StepRule::halving;
  double step = 0;                                 // the first of a subgradient, the penalty of ADMM; 0 for its own
  double level = 1.0, share = 0.3, margin = 0.03;  // of a bundle; of descent, `share` of what a cell is worth
  Index columns = 100;
};

class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // Whether it wants the scores of cells spread over the parts before the first evaluation.
  virtual bool spreads() const { return false; }
  // Begins in the present state of the dual.
  virtual void start() = 0;
  // Moves the multipliers of an evaluated dual. False: they stay, as this is the minimum, as far as it can tell.
  virtual bool next(const Whole& best) = 0;
  double step() const { return step_; }  // the length of the last one
  // average[copies]: what of each copy the mixture uses that belongs to the minimum. False: this method knows none.
  virtual bool fill_average(std::vector<double>& /*average*/) const { return false; }

 protected:
  explicit Optimizer(Dual& dual) : dual_(dual), problem_(dual.problem()) {}

  Dual& dual_;
  const Problem& problem_;
  double step_ = 0;
};

}  // namespace certus::relax
