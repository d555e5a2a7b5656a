// LR and CONS of Chang et al. (2014): the relaxed problem's multipliers by subgradient steps, greedy answers (§6.2),
// pruning (§6.1) and, for CONS, constraints that are put back (§5).
#pragma once

#include "align/bidirectional.hpp"
#include "base/limits.hpp"

namespace certus::align {

// As in §8 of the paper.
struct RelaxedSettings {
  Index iterations = 400;
  Index constrained_iterations = 400;  // after those; 0 for LR
  bool from_chain = true;              // where multipliers begin: see RelaxedLattice; the paper begins at 0
  double step = 1;                     // the first of them,
  double rate = 0.95;  // times this to the power of how often the bound did not fall, in each of the two parts
  Index constraints = 5, constraints_every = 25, greedy_every = 10;
  Index hypotheses = 300'000;  // of one constrained search: more than that ends it
  double seconds = kNoTimeLimit;
};

struct RelaxedAlignment : Alignment {
  std::vector<double> intersection;  // [iterations]: the best score of what both directions have
  std::vector<double> space;         // [iterations]: the share of transitions that pruning has left
  Index constraints = 0;             // how many were put back

  void go_on(RelaxedAlignment later);
};

// Prices have to be those of full or adjacent agreement: `apart` and `alone` are -inf.
RelaxedAlignment align_relaxed(const Agreed& problem, const RelaxedSettings& settings);

}  // namespace certus::align
