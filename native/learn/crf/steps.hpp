// What sums over the label sequences of a sentence are told of its transitions.
#pragma once

#include "base/types.hpp"

namespace certus::learn {

// What the scores of a position and the transitions may span together for sums of weights as they are.
inline constexpr double kRange = 600;

// The transitions of a sentence: the same matrix at every step, or one for each.
struct CrfSteps {
  Index labels, width;
  Index stride;            // from the [L][width] of one step to that of the next: 0 where all are the same
  const double* scores;    // of the first step
  const double* links;     // exp(score - the largest of the step)
  const double* acrosses;  // the transposes of links; null where each step has a matrix of its own
  double largest;          // of all steps together, or of one where they are the same
  double range;            // the largest less the least of a step, at most

  // The scores and the links of the step into position t >= 1.
  const double* score(Index t) const { return scores + (t - 1) * stride; }
  const double* link(Index t) const { return links + (t - 1) * stride; }
  double taken(Index T) const { return stride ? largest : static_cast<double>(T - 1) * largest; }
};

}  // namespace certus::learn
