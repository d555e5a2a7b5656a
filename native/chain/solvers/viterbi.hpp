// The dense sweep, as other solvers and batches use it.
#pragma once

#include "chain/solver.hpp"

namespace certus {

CERTUS_SOLVER(viterbi);

// The same path, found by reading only the rows of transitions that can matter, where one matrix serves all positions.
template <class S>
void viterbi_ordered(const Trellis<Dense<S>>& trellis, Answer& answer, Arena& arena);

// Several sentences that share one dense matrix, in one sweep: position by position, each block of the
// matrix is read once for all of them. answers[b] gets one path.
template <class S>
void viterbi_together(const Trellis<Dense<S>>* const* trellises, Answer* const* answers, Index sentences, Arena& arena);

}  // namespace certus
