// How an answer stands to the optimum. The one list of these, for kernels and for Python.
#pragma once

#include <limits>

namespace certus {

enum class Status {
  optimal,     // proven: no structure scores more
  feasible,    // a structure, and a bound on the best
  infeasible,  // there is no structure: each one meets a score of -inf
  invalid      // a score is NaN or +inf, or may add up with others to it
};

struct Conclusion {
  Status status;
  double bound;
};

// How an answer stands, and its bound: the one place that says `optimal` of a search, from numbers alone. `score` is
// that of the answer, -inf where none was found; no structure scores more than `bound`, -inf proves that there is none;
// `allowance` is the gap that counts as rounding of the sums that both are. Python's certus.solution.conclude is the
// same with a status for each limit.
inline Conclusion conclude(double score, double bound, double allowance = 0) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (score == kNone && bound == kNone) return {Status::infeasible, bound};
  if (score > kNone && bound <= score + allowance) return {Status::optimal, score};
  return {Status::feasible, bound > score ? bound : score};
}

}  // namespace certus
