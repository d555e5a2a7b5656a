// 1-best A*: Huang et al. 2012, section 4.1.
#include "chain/method.hpp"
#include "chain/search/best_first.hpp"

namespace certus {

CERTUS_SOLVER(astar) {
  const FullSpace<Tr> space(trellis, request.heuristic, answer.counters, arena);
  answer.counters.activated = 0;  // of the labels themselves, not of the heuristic's
  ++answer.counters.iterations;
  answer.found = best_first(space, answer.labels, answer.counters, arena);
}

CERTUS_REGISTER(astar, "astar")

}  // namespace certus
