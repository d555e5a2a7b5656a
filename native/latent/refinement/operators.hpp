// The forward-backward algorithm of refinement HMMs in operator form (Stratos et al. 2013, figure 2).
//
// All (label, hidden state) pairs stand in one vector; label a has the states begin[a] .. begin[a + 1]. With
// x_0 ... x_{T-1} the observations, M_x the operator of an observation and f_x the one that ends a sentence,
//
//   alpha_0 = start,              alpha_{t+1} = alpha_t M_{x_t},
//   beta_{T-1} = f_{x_{T-1}},     beta_t      = M_{x_t} beta_{t+1},
//   mu(a, t) = sum over the states h of a of alpha_t[h] beta_t[h].
//
// Operators may have negative entries (estimated ones do), so nothing is taken to the logarithm: vectors are scaled by
// powers of two, which rounds nothing.
#pragma once

#include "base/types.hpp"

namespace certus::latent::refinement {

struct Operators {
  Index states, labels;    // the number of states is a multiple of 8; what pads it is zero everywhere
  const Index* begin;      // [labels + 1]
  const double* start;     // [states]
  const double* matrices;  // [K][states][states], from and to
  const Index* matrix;     // [n] which matrix an observation has
  const double* gain;      // [n][states] or null: M_x = diag(gain_x) matrices[matrix[x]]
  const double* finish;    // [n][states]
};

// What came of a sentence: its mass Z = sum_a mu(a, t), which is the same at every t but for rounding.
struct Mass {
  double* log_size;  // [sentences] log |Z|, or -inf
  double* sign;      // [sentences] of Z: -1, 0 or 1
  double* drift;     // [sentences] the relative changes of Z_t from position to position, added up: rounding
};

// Sentence n has the observations at [offsets[n], offsets[n + 1]); out[t][a] = mu(a, t) / Z_t for each of them, or 0
// where Z_t is 0. Sentences are independent: neither their company nor `threads` changes a bit of the result.
void marginals(const Operators& model, const Index* observations, const Index* offsets, Index sentences, Index threads,
               double* out, const Mass& mass);

}  // namespace certus::latent::refinement
