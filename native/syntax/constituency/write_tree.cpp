#include "syntax/constituency/write_tree.hpp"

#include "hypergraph/derivation.hpp"

namespace certus::syntax {
namespace {

using hypergraph::Edge;
using hypergraph::Node;

class Writer {
 public:
  Writer(const Grammar& grammar, const ParseForest& forest, const std::vector<Edge>& edges, WrittenTree& out)
      : grammar_(grammar), forest_(forest), next_(edges.data()), out_(out) {}

  // Each returns how many nodes it wrote side by side.
  std::int32_t write_top(Node node) {
    const Node bottom = *tails_of(*next_++);
    return write_chain(forest_.symbols[node], bottom);
  }

 private:
  std::int32_t write_chain(Label symbol, Node bottom) {
    const Label end = forest_.symbols[bottom];
    if (symbol == end) return write_node(symbol, [&] { return write_bottom(bottom); });
    const Label via = grammar_.rules.chain(symbol, end)->via;
    return write_node(symbol, [&] { return write_chain(via, bottom); });
  }
  std::int32_t write_bottom(Node node) {
    const Edge edge = *next_++;
    if (forest_.graph.tail_begin[edge] == forest_.graph.tail_begin[edge + 1]) {  // over a word
      out_.tags.push_back(grammar_.tag[forest_.symbols[node]]);
      return 0;
    }
    const std::int32_t count = write_top(tails_of(edge)[0]);
    return count + write_top(tails_of(edge)[1]);
  }
  template <class Below>
  std::int32_t write_node(Label symbol, const Below& write_below) {
    const Label label = grammar_.label[symbol];
    if (label < 0) return write_below();
    const std::size_t place = out_.labels.size();
    out_.labels.push_back(label);
    out_.arity.push_back(0);
    const std::int32_t count = write_below();
    out_.arity[place] = count;
    return 1;
  }
  const Node* tails_of(Edge edge) const { return forest_.graph.tail.data() + forest_.graph.tail_begin[edge]; }

  const Grammar& grammar_;
  const ParseForest& forest_;
  const Edge* next_;
  WrittenTree& out_;
};

}  // namespace

WrittenTree write_tree(const Grammar& grammar, const ParseForest& forest, const std::vector<Edge>& edges) {
  WrittenTree out;
  Writer(grammar, forest, edges, out).write_top(forest.graph.goal());
  out.score = hypergraph::score(forest.scores.data(), edges);
  return out;
}

}  // namespace certus::syntax
