// What all paths together say: exact marginal probabilities, the partition function, and samples.
//
//   P(y) = exp(score(y)) / Z,   Z = sum over paths of exp(score)
//
// Everything is done in log space and double, whatever the model's precision; -inf is a probability of 0.
#pragma once

#include "chain/run.hpp"

namespace certus {

// With `invalid`, (position, label) is where the bad score is; with `infeasible`, no path reaches `position`.
struct Summary {
  Status status = Status::optimal;
  Index position = -1;
  Index label = -1;
  double log_partition = 0;
};

// probabilities[t][y], of [T][L]: the share of the paths that go through label y at position t.
template <class S>
Summary marginals(const Model<S>& model, const Sentence<S>& sentence, double* probabilities);

// Draws paths[n][T] from P, one for each row of uniforms[n][T] in [0, 1).
template <class S>
Summary sample(const Model<S>& model, const Sentence<S>& sentence, const double* uniforms, Index count, Index* paths);

// scores[n]: of the paths[n][T].
template <class S>
void path_scores(const Model<S>& model, const Sentence<S>& sentence, const Index* paths, Index count, double* scores);

}  // namespace certus
