// Max-marginals of a chain: for every label of every position, the best score of a path through it.
#pragma once

#include "chain/run.hpp"

namespace certus {

// best[t][y], of [T][L]: start to label y at position t, and on to the end; -inf where no path goes through.
void max_marginals(const Model<double>& model, const Sentence<double>& sentence, double* best);

}  // namespace certus
