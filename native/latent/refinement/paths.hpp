// The mass of one label sequence of each sentence, summed over its hidden states: p(labels, observations).
#pragma once

#include "latent/refinement/operators.hpp"

namespace certus::latent::refinement {

// Along known labels only the states of one label are alive at a time, so one token takes m^2 steps, not (l m)^2.
// labels[t] is that of observation t; log_size and sign are as in Mass, those of an empty sentence -inf and 0.
void path_masses(const Operators& model, const Index* observations, const Index* labels, const Index* offsets,
                 Index sentences, Index threads, double* log_size, double* sign);

}  // namespace certus::latent::refinement
