// What score and bound of an answer prove: the one place that says `optimal` of a search.
#pragma once

#include <limits>

#include "base/status.hpp"

namespace certus {

struct Conclusion {
  Status status;
  double bound;
};

// How an answer stands, and its bound, from numbers alone. `score` is that of the answer, -inf where none was found; no
// structure scores more than `bound`, -inf proves that there is none; `allowance` is the gap that counts as rounding of
// the sums that both are.
inline Conclusion conclude(double score, double bound, double allowance = 0) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (score == kNone && bound == kNone) return {Status::infeasible, bound};
  if (score > kNone && bound <= score + allowance) return {Status::optimal, score};
  return {Status::feasible, bound > score ? bound : score};
}

}  // namespace certus
