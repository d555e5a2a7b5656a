// What a solver is asked, what it answers, and the list of solvers.
#pragma once

#include "chain/trellis.hpp"

namespace certus {

enum class Status { optimal = 0, feasible = 1, infeasible = 2, invalid = 3 };

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
  Index width = 8;         // beam
  Index heuristic = -1;    // A*: -1 the naive heuristic, m >= 0 the coarse one with 2^m active labels
  bool defer = false;      // auto: leave a sentence that needs the whole trellis to the caller, who sweeps many
  bool sparse = true;      // viterbi: use the listed transitions where most pairs share one score
  bool columnwise = true;  // staggered: expand only the columns where the best path was degenerate
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
//   template <class Tr> void NAME(const Trellis<Tr>& trellis, const Request& request, Answer& answer, Arena& arena);
#define CERTUS_SOLVER(name) \
  template <class Tr>       \
  void name(const Trellis<Tr>& trellis, const Request& request, Answer& answer, Arena& arena)

CERTUS_SOLVER(viterbi);
CERTUS_SOLVER(beam);
CERTUS_SOLVER(carpediem);
CERTUS_SOLVER(staggered);
CERTUS_SOLVER(astar);
CERTUS_SOLVER(iterative_astar);
CERTUS_SOLVER(kbest_viterbi);
CERTUS_SOLVER(kbest_astar);
CERTUS_SOLVER(viterbi_astar);
CERTUS_SOLVER(iterative_viterbi_astar);
CERTUS_SOLVER(automatic);

// At the end of a solver's file: compiles it for both precisions and both kinds of transitions.
#define CERTUS_INSTANTIATE(name)                                                      \
  template void name(const Trellis<Dense<float>>&, const Request&, Answer&, Arena&);  \
  template void name(const Trellis<Dense<double>>&, const Request&, Answer&, Arena&); \
  template void name(const Trellis<Sparse<float>>&, const Request&, Answer&, Arena&); \
  template void name(const Trellis<Sparse<double>>&, const Request&, Answer&, Arena&);

}  // namespace certus
