// A forest with its prefixes, the scores of neighbours, and the bounds that they give.
#pragma once

#include <algorithm>

#include "translate/hierarchical/end_finder.hpp"

namespace certus::translate {

struct CoarseForest {
  PrefixForest prefixes;
  NeighbourScores scores;
  EndBounds bounds;

  // The forest must have no derivations without words.
  CoarseForest(const ForestProblem& problem, double threshold)
      : prefixes(problem.forest), scores(problem), bounds(problem, prefixes, scores, threshold) {}

  // The best that any derivation can be, also of those below the threshold.
  double find_bound(double threshold) const { return std::max(bounds.bound(), threshold); }
};

}  // namespace certus::translate
