// 1-best A*: Huang et al. 2012, section 4.1.
#include "chain/method.hpp"
#include "chain/search/best_first.hpp"

namespace certus {

CERTUS_SOLVER(astar) {
  const FullSpace<Tr> space(trellis, request.heuristic, answer.counters, arena);
  answer.counters.activated = 0;  // of the labels themselves, not of the heuristic's
  ++answer.counters.iterations;
  answer.found = best_first(space, answer.labels, answer.counters, arena);
  if (answer.found && is_below_rounding(space, answer.labels, arena.get<typename Tr::Score>(trellis.labels)))
    find_method("kbest-viterbi").solver<Tr>()(trellis, request, answer, arena);
}

CERTUS_REGISTER(astar, "astar")

}  // namespace certus
