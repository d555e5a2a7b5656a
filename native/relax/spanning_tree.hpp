// The best spanning tree of a complete directed graph: non-projective dependency trees.
#pragma once

#include "base/types.hpp"

namespace certus::relax {

// scores[i][h], of [n][n + 1]: word i with head h, where 0 is the root and h > 0 is word h - 1; -inf forbids, and a
// word is never its own head. Fills heads[n]. Returns false when no tree is possible. With `single`, the root has
// exactly one child.
bool spanning_tree(const double* scores, Index n, bool single, Index* heads);

// best[i][h], of [n][n + 1]: the best score of a tree in which word i has head h; -inf where there is none.
void tree_max_marginals(const double* scores, Index n, bool single, double* best);

}  // namespace certus::relax
