// The best spanning tree of a complete directed graph: non-projective dependency trees.
#pragma once

#include "base/types.hpp"

namespace certus::relax {

// scores[i][h], of [n][n + 1]: word i with head h, where 0 is the root and h > 0 is word h - 1; -inf forbids, and a
// word is never its own head. Fills heads[n]. Returns false when no tree is possible. With `single`, the root has
// exactly one child. Nothing is allocated once a thread has seen a sentence of that length.
bool spanning_tree(const float* scores, Index n, bool single, Index* heads);
bool spanning_tree(const double* scores, Index n, bool single, Index* heads);

// The same where scores come from outside. The score of the tree; -inf where there is none; NaN where a score is NaN,
// +inf, or so large that sums might not be numbers, and nothing was done.
double span_checked(const float* scores, Index n, bool single, Index* heads);
double span_checked(const double* scores, Index n, bool single, Index* heads);

// The same as spanning_tree, and bounds[i][h], of [n][n + 1]: no tree in which word i has head h scores more; -inf
// where there is no such tree, or h is word i. They are what the dual of the best tree says: its score less the reduced
// costs, O(n^2).
bool bound_trees(const double* scores, Index n, bool single, Index* heads, double* bounds);

// best[i][h], of [n][n + 1]: the best score of a tree in which word i has head h; -inf where there is none. O(n^4).
void tree_max_marginals(const double* scores, Index n, bool single, double* best);

}  // namespace certus::relax
