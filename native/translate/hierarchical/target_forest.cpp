#include "translate/hierarchical/target_forest.hpp"

#include <stdexcept>

namespace certus::translate {
namespace {

// Nodes such that each comes after those that it is made of (Kahn 1962); shorter than all where there is a cycle.
std::vector<Index> order_nodes(Index nodes, std::span<const Index> heads, std::span<const Index> first,
                               std::span<const Symbol> symbols) {
  const Index edges = static_cast<Index>(heads.size());
  std::vector<Index> user_first(nodes + 1), users(symbols.size()), open(nodes), order;
  for (const Symbol symbol : symbols)
    if (is_node(symbol)) ++user_first[~symbol + 1];
  for (Index v = 0; v < nodes; ++v) user_first[v + 1] += user_first[v];
  std::vector<Index> place(user_first.begin(), user_first.end() - 1);
  for (Index e = 0; e < edges; ++e)
    for (Index i = first[e]; i < first[e + 1]; ++i)
      if (is_node(symbols[i])) {
        users[place[~symbols[i]]++] = heads[e];
        ++open[heads[e]];
      }
  for (Index v = 0; v < nodes; ++v)
    if (open[v] == 0) order.push_back(v);
  for (std::size_t next = 0; next < order.size(); ++next) {
    const Index v = order[next];
    for (Index i = user_first[v]; i < user_first[v + 1]; ++i)
      if (--open[users[i]] == 0) order.push_back(users[i]);
  }
  return order;
}

void copy_edge(TargetForest& made, double score, std::span<const Symbol> symbols, Edge origin) {
  made.score.push_back(score);
  made.symbols.insert(made.symbols.end(), symbols.begin(), symbols.end());
  made.symbol_first.push_back(static_cast<Index>(made.symbols.size()));
  made.origin.push_back(origin);
}

}  // namespace

TargetForest sort_forest(Index nodes, Index goal, std::span<const Index> heads, std::span<const double> scores,
                         std::span<const Index> symbol_first, std::span<const Symbol> symbols) {
  const std::vector<Index> order = order_nodes(nodes, heads, symbol_first, symbols);
  if (static_cast<Index>(order.size()) < nodes)
    throw std::invalid_argument("the forest has a cycle: a node that is part of itself");
  std::vector<Index> number(nodes), first(nodes + 1), sorted(heads.size());
  for (Index n = 0; n < nodes; ++n) number[order[n]] = n;
  for (const Index head : heads) ++first[number[head] + 1];
  for (Index v = 0; v < nodes; ++v) first[v + 1] += first[v];
  std::vector<Index> place(first.begin(), first.end() - 1);
  for (std::size_t e = 0; e < heads.size(); ++e) sorted[place[number[heads[e]]]++] = static_cast<Index>(e);
  TargetForest made{nodes, number[goal], std::move(first), {}, {0}, {}, {}};
  std::vector<Symbol> side;
  for (const Index e : sorted) {
    side.assign(symbols.begin() + symbol_first[e], symbols.begin() + symbol_first[e + 1]);
    for (Symbol& symbol : side)
      if (is_node(symbol)) symbol = ~number[~symbol];
    copy_edge(made, scores[e], side, static_cast<Edge>(e));
  }
  return made;
}

TargetForest select_edges(const TargetForest& forest, std::span<const Index> edges) {
  TargetForest made{forest.nodes, forest.goal, {0}, {}, {0}, {}, {}};
  std::size_t next = 0;
  for (Index v = 0; v < forest.nodes; ++v) {
    for (; next < edges.size() && edges[next] < forest.edge_first[v + 1]; ++next)
      copy_edge(made, forest.score[edges[next]], forest.list_symbols(edges[next]), forest.origin[edges[next]]);
    made.edge_first.push_back(static_cast<Index>(next));
  }
  return made;
}

std::vector<char> find_starts(const TargetForest& forest) {
  std::vector<char> starts(forest.nodes, 1), used(forest.nodes);
  used[forest.goal] = 1;
  for (Index v = forest.nodes - 1; v >= 0; --v) {
    if (!used[v]) continue;
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      const std::span<const Symbol> symbols = forest.list_symbols(e);
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (!is_node(symbols[i])) continue;
        used[~symbols[i]] = 1;
        if (i > 0 || !starts[v]) starts[~symbols[i]] = 0;
      }
    }
  }
  return starts;
}

}  // namespace certus::translate
