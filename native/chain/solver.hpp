// What a solver is asked, and what it answers.
#pragma once

#include "base/status.hpp"
#include "chain/trellis.hpp"

namespace certus {

// The figures in the papers' tables.
struct Counters {
  Index iterations = 0;  // passes over a (degenerate) trellis
  Index activated = 0;   // labels that were looked at one by one, summed over positions
  Index pruned = 0;      // nodes proven useless and removed
  Index edges = 0;       // transitions scored
  Index expanded = 0;    // nodes or hypotheses taken from an agenda, or opened
};

struct Request {
  Index k = 1;
  Index width = 8;  // beam
  Index heuristic =
      -1;              // A*: -1 the naive one, m >= 0 the coarse one with 2^m active labels, -2: with a quarter of all
  bool defer = false;  // viterbi, auto: leave a sentence that needs the dense sweep to the caller, who sweeps many
  bool sparse = true;  // viterbi: use the listed transitions where most pairs share one score
  bool columnwise = true;  // staggered: expand only the columns where the best path was degenerate
  // Iterative Viterbi A*: whether it begins with a list of paths, whether the ends of passes count, and how many times
  // k paths a round lists: 0 ends the list at the first degenerate one.
  bool first = true, ends = false;
  Index listed = 0;
  // Iterative Viterbi A*: what it may take before it goes over the whole trellis, in times of what that takes.
  double patience = 1;
};

// Solvers write paths here, best first; scores and order are settled by the caller.
struct Answer {
  Index* labels;          // [k][T]
  Index found = 0;        // how many were written
  bool deferred = false;  // see Request::defer
  Status status = Status::optimal;
  double bound = 0;  // only read when status is feasible: no path scores more
  Counters counters{};
};

// Every solver has this form. The trellis has T >= 1 and L >= 1, holds neither NaN nor +inf, and may have no
// path at all: then `found` stays 0. Scratch memory comes from `arena`, which the caller resets.
//
// It is defined as CERTUS_SOLVER(name) { ... } in a file of its own, which ends with CERTUS_REGISTER or one of its
// siblings (method.hpp).
template <class Tr>
using Solver = void (*)(const Trellis<Tr>& trellis, const Request& request, Answer& answer, Arena& arena);

#define CERTUS_SOLVER(name) \
  template <class Tr>       \
  void name(const Trellis<Tr>& trellis, const Request& request, Answer& answer, Arena& arena)

}  // namespace certus
