#include "translate/hierarchical/leaf_graph.hpp"

#include <unordered_map>

namespace certus::translate {

LeafGraph::LeafGraph(const TargetForest& forest) : nodes(forest.nodes), leaf_first{0}, step_first{0} {
  for (const Symbol symbol : forest.symbols) {
    leaf_at.push_back(is_node(symbol) ? -1 : leaves());
    if (!is_node(symbol)) leaf.push_back(static_cast<Word>(symbol));
  }
  enters.resize(leaf.size());
  const Index events = 2 * (nodes + leaves());
  std::unordered_map<Index, Index> known;  // steps between nodes, which edges share
  Index next_leaf = 0;
  const auto add = [&](Index before, Index after) {
    Index step = static_cast<Index>(from.size());
    if (!is_leaf(before) && !is_leaf(after)) step = known.try_emplace(before * events + after, step).first->second;
    if (step == static_cast<Index>(from.size())) {
      from.push_back(before);
      to.push_back(after);
    }
    if (is_leaf(after)) enters[find_leaf(after)] = step;
    steps.push_back(step);
  };
  for (Index v = 0; v < forest.nodes; ++v)
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      Index at = enter(v);
      for (const Symbol symbol : forest.list_symbols(e)) {
        add(at, is_node(symbol) ? enter(~symbol) : enter_leaf(next_leaf));
        at = is_node(symbol) ? leave(~symbol) : leave_leaf(next_leaf++);
      }
      add(at, leave(v));
      leaf_first.push_back(next_leaf);
      step_first.push_back(static_cast<Index>(steps.size()));
    }
  into_first.assign(2 * nodes + 1, 0);
  for (const Index event : to)
    if (!is_leaf(event)) ++into_first[event + 1];
  for (Index event = 0; event < 2 * nodes; ++event) into_first[event + 1] += into_first[event];
  into.resize(into_first.back());
  std::vector<Index> place(into_first.begin(), into_first.end() - 1);
  for (std::size_t s = 0; s < to.size(); ++s)
    if (!is_leaf(to[s])) into[place[to[s]]++] = static_cast<Index>(s);
}

}  // namespace certus::translate
