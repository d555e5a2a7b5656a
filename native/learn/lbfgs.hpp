// Minimises a smooth function plus l1 |x|_1: limited-memory BFGS (Nocedal & Wright, Numerical Optimization, 2nd ed.,
// algorithms 7.4 and 7.5), which is OWL-QN (Andrew & Gao 2007, algorithm 1) where l1 is above 0.
#pragma once

#include <functional>
#include <memory>

#include "base/aligned.hpp"

namespace certus::learn {

// How far to go along a direction.
//   wolfe:        bracket and zoom by cubic interpolation until the strong Wolfe conditions hold (algorithms 3.5, 3.6);
//   backtracking: halve, or lengthen by 2.1, until the Wolfe conditions hold;
//   strong:       the same until the strong ones do.
// With l1 > 0 none of them applies: OWL-QN halves until its own condition of sufficient decrease holds.
enum class LineSearch { wolfe, backtracking, strong };

struct LbfgsOptions {
  Index memories = 6;
  double epsilon = 1e-5;  // stop where |gradient| <= epsilon max(1, |x|),
  Index period = 10;      // or where over this number of iterations
  double delta = 1e-5;    // the objective fell by no more than this share of it (period 0: never)
  LineSearch search = LineSearch::wolfe;
  Index max_trials = 20;
  double l1 = 0;
};

// What minimising goes on from, besides x.
struct LbfgsState {
  std::vector<double> past;             // the objective at the start and after each iteration
  std::vector<Doubles> steps, changes;  // [pair][n] the memory, oldest first: of x, and of the gradient
};

// evaluate(x, gradient) returns the smooth part.
using LbfgsFunction = std::function<double(const double* x, double* gradient)>;

// An iteration at a time, from x, which is then the best point so far.
class Lbfgs {
 public:
  virtual ~Lbfgs() = default;

  // Tells whether a step leads down. With the last one comes the end.
  virtual bool step() = 0;
  virtual bool end() const = 0;
  virtual double objective() const = 0;  // after the last step

  // With x as it was, a new object goes on from here to the same digits.
  virtual LbfgsState state() = 0;
  virtual void restore(const LbfgsState& state) = 0;
};
std::unique_ptr<Lbfgs> make_lbfgs(double* x, Index n, LbfgsFunction evaluate, const LbfgsOptions& options);

}  // namespace certus::learn
