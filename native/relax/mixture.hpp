// The small quadratic program of a bundle: the best mixture of what each part has chosen so far.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::relax {

// Maximises  sum_k gain[k] a[k] - step/2 sum_kl a[k] gram[k][l] a[l]
// over a >= 0 that sum to 1 within each block (block[k] in 0 ... blocks - 1). Starts from `a`, which is such a
// mixture. Moves weight between the two columns of a block that gain most by it, until none gains more than
// `enough`; fills the slopes of the objective there, and returns the number of moves made.
Index mix(const std::vector<std::vector<double>>& gram, double step, const std::vector<double>& gain,
          const std::vector<Index>& block, Index blocks, double enough, Index most_moves, std::vector<double>& a,
          std::vector<double>& slope);

}  // namespace certus::relax
