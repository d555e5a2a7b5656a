// The E step of refinement HMMs: labels are known, hidden states are summed over.
#pragma once

#include "base/types.hpp"

namespace certus::learn::refinement {

// The parameters, laid out for the walk along known labels.
struct Parameters {
  Index labels, hidden, observations;
  const double* initial;     // [labels][hidden]
  const double* transition;  // [labels a][labels b][hidden h of a][hidden of b]
  const double* turned;      // the same with the last two axes exchanged
  const double* emission;    // [labels][observations][hidden]
  const double* stop;        // [labels][hidden]
};

struct Sequences {
  const Index *labels, *observations;  // [tokens]
  const Index* offsets;                // [sentences + 1]
  const double* weights;               // [sentences] how often each one counts in `pairs`
  Index sentences;
};

inline constexpr Index kShards = 8;  // sums over sentences are added up in as many parts, whatever the threads

// For each sentence, log p(labels, observations) (-inf where it is impossible: it is then left out of the sums); for
// each token p(hidden state | sentence) in posterior [tokens][hidden]; and in pairs [labels][labels][hidden][hidden]
// the expected transitions, each divided by its probability. `pairs` is overwritten.
void expectations(const Parameters& model, const Sequences& data, Index threads, double* log_likelihood,
                  double* posterior, double* pairs);

}  // namespace certus::learn::refinement
