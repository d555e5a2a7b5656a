// What all searches of translation forests take and return.
#pragma once

#include <limits>
#include <string>

#include "base/limits.hpp"
#include "base/status.hpp"
#include "base/stopwatch.hpp"
#include "translate/hierarchical/boundaries.hpp"

namespace certus::translate {

// A forest, a language model, and how much it weighs.
struct ForestProblem {
  TargetForest forest;
  const BoundaryModel* model;
  double weight;

  double weigh(double probability) const { return weight == 0 ? 0 : weight * probability; }
};

// A derivation: its edges in the order of a walk from the goal that goes from left to right.
struct ForestDerivation {
  std::vector<Edge> edges;  // as they were numbered before the forest was sorted
  double score;
};

// The score of a derivation: that of its edges in their order, then that of the language model.
double score_derivation(const ForestProblem& problem, const std::vector<Edge>& sorted_edges);

struct ForestAnswer {
  std::vector<ForestDerivation> best;  // at most k, best first
  double bound = std::numeric_limits<double>::infinity();
  Status status = Status::infeasible;
  bool exhausted = false;  // whether these are all there are
  Index beams = 0, items = 0, joined = 0;
  Index parts = 0;  // that tightening divided words into
  double relaxation_seconds = 0, beam_seconds = 0;
  bool timed_out = false;
};

struct ForestOptions {
  std::string method = "coarse-to-fine";
  Index k = 1;
  bool distinct = false;
  Index width = 200;         // of cube pruning: cells per node
  Index items = 20'000'000;  // the most that are kept in all
  Index rounds = 200;        // of relaxation
  bool paths = true;         // whether ways from leaf to leaf have multipliers
  bool prune = false;        // whether relaxation drops edges that no better derivation has
  double seconds = kNoTimeLimit;
};

// By the method's name.
ForestAnswer search_forest(const ForestProblem& problem, const ForestOptions& options);

// The product of all nodes with all boundaries (Bar-Hillel et al. 1964), without any pruning.
ForestAnswer search_exhaustively(const ForestProblem& problem, const ForestOptions& options);
// Cube pruning (Chiang 2007).
ForestAnswer search_cubes(const ForestProblem& problem, const ForestOptions& options);
// The product, searched from coarse to fine.
ForestAnswer search_coarse_to_fine(const ForestProblem& problem, const ForestOptions& options);
// Lagrangian relaxation of leaves (Rush & Collins 2011), which "tightening" tightens by parts of words.
ForestAnswer search_leaves(const ForestProblem& problem, const ForestOptions& options);
// Beams under bounds (Rush et al. 2013).
ForestAnswer search_forest_beam(const ForestProblem& problem, const ForestOptions& options);

// Scores are sums of the same numbers in different orders: what is below by less than this may be as good.
inline double find_forest_margin(double score) { return 1e-9 * std::abs(score); }

}  // namespace certus::translate
