#include "syntax/constituency/write_tree.hpp"

#include "hypergraph/derivation.hpp"

namespace certus::syntax {
namespace {

// A constituent that is still to be written, and the place of the node it hangs from, or -1.
struct Waiting {
  hypergraph::Node top;
  std::int32_t above;
};

}  // namespace

WrittenTree write_tree(const Grammar& grammar, const ParseForest& forest, const std::vector<hypergraph::Edge>& edges) {
  WrittenTree out;
  const hypergraph::Forest& graph = forest.graph;
  const hypergraph::Edge* next = edges.data();
  std::vector<Waiting> stack{{graph.goal(), -1}};
  while (!stack.empty()) {
    auto [top, above] = stack.back();
    stack.pop_back();
    const hypergraph::Node bottom = graph.tail[graph.tail_begin[*next++]];
    const Label last = forest.symbols[bottom];
    for (Label symbol = forest.symbols[top];; symbol = grammar.rules.chain(symbol, last)->via) {
      if (grammar.label[symbol] >= 0) {
        if (above >= 0) ++out.arity[above];
        above = static_cast<std::int32_t>(out.labels.size());
        out.labels.push_back(grammar.label[symbol]);
        out.arity.push_back(0);
      }
      if (symbol == last) break;
    }
    const hypergraph::Edge edge = *next++;
    const hypergraph::Node* tails = graph.tail.data() + graph.tail_begin[edge];
    if (graph.tail_begin[edge] == graph.tail_begin[edge + 1]) {  // over a word
      out.tags.push_back(grammar.tag[last]);
      continue;
    }
    stack.push_back({tails[1], above});
    stack.push_back({tails[0], above});
  }
  out.score = hypergraph::score(forest.scores.data(), edges);
  return out;
}

}  // namespace certus::syntax
