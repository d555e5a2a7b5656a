// Upper bounds from a relaxed forest, in which each word costs the least that it may cost after what is known of its
// context: the words before it in the same edge.
#pragma once

#include "translate/hierarchical/forest_search.hpp"

namespace certus::translate {

struct ForestBounds {
  std::vector<double> edge;     // [edges] with the words of its own
  std::vector<double> inside;   // [nodes] the best derivation below
  std::vector<double> outside;  // [nodes] the best rest of a derivation of the goal, with </s>
};

// Fills in `inside` and `outside` from `edge`.
void run_passes(const TargetForest& forest, double end, ForestBounds& bounds);
ForestBounds bound_forest(const ForestProblem& problem);
// Whether some derivation of a node has no words.
bool derives_nothing(const TargetForest& forest);

}  // namespace certus::translate
