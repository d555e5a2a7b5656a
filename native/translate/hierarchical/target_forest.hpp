// A translation forest: each edge rewrites its node into words and other nodes, in the order of the target language.
//
// A derivation is a tree of edges from the goal. Its score is the sum of the scores of its edges and of the weighted
// log probability of its words from <s> to </s>.
#pragma once

#include <span>
#include <vector>

#include "translate/language_model.hpp"
#include "translate/word_bounds.hpp"

namespace certus::translate {

using Edge = std::int32_t;
using Symbol = std::int64_t;  // a word as the language model knows it, or ~node

inline constexpr bool is_node(Symbol symbol) { return symbol < 0; }

// Nodes are numbered such that those on the right-hand side of an edge are before its head, which edges are sorted by.
struct TargetForest {
  Index nodes = 0, goal = 0;
  std::vector<Index> edge_first;    // [nodes + 1]
  std::vector<double> score;        // [edges]
  std::vector<Index> symbol_first;  // [edges + 1]
  std::vector<Symbol> symbols;
  std::vector<Edge> origin;  // [edges] the number that each had before it was sorted

  Index edges() const { return static_cast<Index>(score.size()); }
  std::span<const Symbol> list_symbols(Index edge) const {
    return {symbols.data() + symbol_first[edge], static_cast<std::size_t>(symbol_first[edge + 1] - symbol_first[edge])};
  }
};

// Sorts edges that come in any order. Throws std::invalid_argument for cycles.
TargetForest sort_forest(Index nodes, Index goal, std::span<const Index> heads, std::span<const double> scores,
                         std::span<const Index> symbol_first, std::span<const Symbol> symbols);

// The same nodes with some of their edges, which come in order.
TargetForest select_edges(const TargetForest& forest, std::span<const Index> edges);

// Calls visit(i) for the place in forest.symbols of each word of a derivation, in the order of its text. Edges come
// from the goal down and from left to right. Forests may be deep: no function calls itself for a node.
template <class Visit>
void visit_words(const TargetForest& forest, std::span<const Edge> edges, const Visit& visit) {
  struct Place {
    Index symbol, end;
  };
  std::vector<Place> open;
  for (const Edge e : edges) {
    open.push_back({forest.symbol_first[e], forest.symbol_first[e + 1]});
    // Goes on to the next node, which the next edge rewrites.
    while (!open.empty()) {
      Place& place = open.back();
      if (place.symbol == place.end) {
        open.pop_back();
        continue;
      }
      const Index symbol = place.symbol++;
      if (is_node(forest.symbols[symbol])) break;
      visit(symbol);
    }
  }
}

// [nodes] whether all derivations that use a node begin with it, so that <s> is before its text.
std::vector<char> find_starts(const TargetForest& forest);
// Whether <s> is before an edge and no node on its right-hand side has read it.
inline bool reads_start(const std::vector<char>& starts, Index head, std::span<const Symbol> symbols) {
  return starts[head] && !(!symbols.empty() && is_node(symbols[0]) && starts[~symbols[0]]);
}

}  // namespace certus::translate
