#include "syntax/dependency/kbest.hpp"

#include "hypergraph/kbest.hpp"

namespace certus::syntax {

RankedTrees rank_trees(const Arcs& arcs, const Program& program, Index k, relax::Watch* watch) {
  const hypergraph::Forest forest = program.make_forest();
  const std::vector<Label> added = program.list_arcs();
  hypergraph::KBest search(forest, program.weights().data());
  RankedTrees out;
  std::vector<hypergraph::Edge> edges;
  double value;
  out.exhausted = false;
  for (Index rank = 0; rank <= k; ++rank) {
    if (!search.next(edges, &value)) {
      out.exhausted = true;
      break;
    }
    if (rank == k || (rank > 0 && watch && watch->is_up())) break;
    const std::size_t begin = out.arcs.size();
    out.arcs.resize(begin + arcs.words());
    for (const hypergraph::Edge e : edges)
      if (added[e] >= 0) out.arcs[begin + arcs.modifier(added[e]) - 1] = added[e];
    out.scores.push_back(value);
    out.bounds.push_back(value);
  }
  return out;
}

}  // namespace certus::syntax
