// 1-best iterative A*: Huang et al. 2012, section 4.2.
//
// A* with the naive heuristic on the degenerate lattice, which is expanded where the best path is degenerate
// until it is so nowhere. As in the paper there is no lower bound and nothing is pruned, but for nodes that no path
// can go through at all.
#include "chain/method.hpp"
#include "chain/search/best_first.hpp"
#include "chain/search/degenerate_paths.hpp"

namespace certus {

CERTUS_SOLVER(iterative_astar) {
  const double* ahead = naive_heuristic(trellis, arena);
  DegenerateLattice<Tr> degenerate(trellis, 0, answer.counters, arena);
  DegeneratePaths<Tr> search(degenerate, request.columnwise, arena);
  Counters each;
  for (;;) {
    ++answer.counters.iterations;
    if (!best_first(DegenerateSpace<Tr>(degenerate, ahead), answer.labels, each, arena)) break;
    for (Index t = 0; t < trellis.length; ++t) answer.labels[t] = degenerate.column(t).label[answer.labels[t]];
    answer.found = search.is_active(answer.labels);
    if (answer.found) break;
    search.expand(kNever<double>);
  }
  answer.counters.edges = each.edges;
  answer.counters.expanded = each.expanded;
}

CERTUS_REGISTER(iterative_astar, "iterative-astar")

}  // namespace certus
