// k-best Viterbi A*: Huang et al. 2012, section 3.5, algorithm 3.
#include "chain/solvers/viterbi_astar.hpp"
#include "chain/method.hpp"

namespace certus {

CERTUS_SOLVER(viterbi_astar) {
  using S = typename Tr::Score;
  if constexpr (std::is_same_v<Tr, Dense<S>>) {
    const Model<S>& model = *trellis.model;
    if (request.sparse && model.prefers_sparse() && !trellis.transitions.step)
      return viterbi_astar(Trellis<Sparse<S>>(trellis, model.sparse()), request, answer, arena);
  }
  const Index L = trellis.labels;
  const auto f = forward(trellis, arena);
  answer.counters = {1, trellis.length * L, 0, (trellis.length - 1) * L * L, 0};
  if (f.died >= 0) return;
  NextBest<FullColumns<Tr>> paths(FullColumns<Tr>(trellis, f, arena), request.k);
  while (answer.found < request.k && paths.next(answer.labels + answer.found * trellis.length)) ++answer.found;
  answer.counters.expanded = paths.taken;
}

CERTUS_REGISTER_ALL(viterbi_astar, "viterbi-astar")

}  // namespace certus
