// The small quadratic program of a bundle: the best mixture of what each part has chosen so far.
#pragma once

#include "base/types.hpp"

namespace certus::relax {

// Maximises  sum_k gain[k] a[k] - 1/2 sum_kl a[k] gram[k][l] a[l]
// over a >= 0 that sum to 1 within each block (block[k] in 0 ... blocks - 1). Starts from `a`, which is such a
// mixture. Moves weight between the two columns of a block that gain most by it, until none gains more than
// `enough`; returns the number of moves made.
Index mix(const double* gram, const double* gain, const Index* block, Index columns, Index blocks, double enough,
          Index most_moves, double* a);

}  // namespace certus::relax
