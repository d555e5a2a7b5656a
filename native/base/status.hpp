// How an answer stands to the optimum. The one list of these, for kernels and for Python.
#pragma once

namespace certus {

enum class Status {
  optimal,     // proven: no structure scores more
  feasible,    // a structure, and a bound on the best
  infeasible,  // there is no structure: each one meets a score of -inf
  invalid      // a score is NaN or +inf, or may add up with others to it
};

}  // namespace certus
