#include "translate/hierarchical/forest_bounds.hpp"

#include <algorithm>

namespace certus::translate {

void run_passes(const TargetForest& forest, double end, ForestBounds& bounds) {
  bounds.inside.assign(forest.nodes, kNever<double>);
  bounds.outside.assign(forest.nodes, kNever<double>);
  for (Index v = 0; v < forest.nodes; ++v)
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      double sum = bounds.edge[e];
      for (const Symbol symbol : forest.list_symbols(e))
        if (is_node(symbol)) sum += bounds.inside[~symbol];
      bounds.inside[v] = std::max(bounds.inside[v], sum);
    }
  bounds.outside[forest.goal] = end;
  for (Index v = forest.goal; v >= 0; --v) {
    if (bounds.outside[v] == kNever<double>) continue;
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      const std::span<const Symbol> symbols = forest.list_symbols(e);
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (!is_node(symbols[i])) continue;
        double sum = bounds.edge[e] + bounds.outside[v];
        for (std::size_t j = 0; j < symbols.size(); ++j)
          if (j != i && is_node(symbols[j])) sum += bounds.inside[~symbols[j]];
        bounds.outside[~symbols[i]] = std::max(bounds.outside[~symbols[i]], sum);
      }
    }
  }
}

ForestBounds bound_forest(const ForestProblem& problem) {
  const TargetForest& forest = problem.forest;
  const Automaton& automaton = problem.model->automaton();
  const WordBounds& words = problem.model->bounds();
  ForestBounds made{forest.score, {}, {}};
  std::vector<Word> context;
  for (Index e = 0; e < forest.edges(); ++e) {
    context.clear();
    for (const Symbol symbol : forest.list_symbols(e)) {
      if (is_node(symbol)) {
        context.clear();
        continue;
      }
      const std::size_t most = std::min(context.size(), static_cast<std::size_t>(automaton.order - 1));
      const std::span<const Word> last = std::span<const Word>(context).last(most);
      made.edge[e] += problem.weigh(words.find(automaton, last, static_cast<Word>(symbol)));
      context.push_back(static_cast<Word>(symbol));
    }
  }
  run_passes(forest, problem.weigh(words.find(automaton, std::span<const Word>(), kEnd)), made);
  return made;
}

bool derives_nothing(const TargetForest& forest) {
  std::vector<char> empty(forest.nodes);
  for (Index v = 0; v < forest.nodes; ++v)
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e)
      if (std::ranges::all_of(forest.list_symbols(e), [&](Symbol s) { return is_node(s) && empty[~s]; })) empty[v] = 1;
  return std::ranges::find(empty, 1) != empty.end();
}

}  // namespace certus::translate
