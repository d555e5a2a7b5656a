// A derivation written out as the tree it stands for, without what binarisation made.
#pragma once

#include <vector>

#include "syntax/constituency/forest.hpp"

namespace certus::syntax {

// Nodes in preorder: the label of each and how many children it has, 0 over a word.
struct Written {
  std::vector<Label> labels;
  std::vector<std::int32_t> arity;
  std::vector<Label> tags;  // [word]
  double score = 0;         // the sum along the derivation, without adjustments
};

// Walks a derivation. Step(node, rank) tells how a node is derived: an edge, and the ranks of its children's
// derivations; or where it is a leaf, ~(the number of its word).
struct Step {
  std::int32_t edge;
  std::int32_t left, right;
};

template <class Next>
class Writer {
 public:
  Writer(const Grammar& grammar, const Forest& forest, const Next& next, Written& out)
      : grammar_(grammar), forest_(forest), next_(next), out_(out) {}

  void write(std::int32_t rank) {
    out_.labels.clear();
    out_.arity.clear();
    out_.tags.assign(static_cast<std::size_t>(forest_.length()), -1);
    out_.score = 0;
    top(0, rank);
  }

 private:
  // Each returns how many nodes it wrote side by side.
  std::int32_t top(std::int32_t node, std::int32_t rank) {
    const Step step = next_(node, rank);
    const Forest::Edge& edge = forest_.edges()[step.edge];
    out_.score += edge.score;
    return chain(forest_.symbols()[node], edge.left, step.left);
  }
  std::int32_t chain(Label symbol, std::int32_t bottom, std::int32_t rank) {
    const Label end = forest_.symbols()[bottom];
    if (symbol == end) return inner(symbol, [&] { return this->bottom(bottom, rank); });
    const Label via = grammar_.rules.chain(symbol, end)->via;
    return inner(symbol, [&] { return chain(via, bottom, rank); });
  }
  std::int32_t bottom(std::int32_t node, std::int32_t rank) {
    const Step step = next_(node, rank);
    if (step.edge < 0) {
      const Forest::Word& word = forest_.words()[~step.edge];
      out_.score += word.score;
      out_.tags[word.position] = word.tag;
      return 0;
    }
    const Forest::Edge& edge = forest_.edges()[step.edge];
    out_.score += edge.score;
    const std::int32_t count = top(edge.left, step.left);
    return count + top(edge.right, step.right);
  }
  template <class Below>
  std::int32_t inner(Label symbol, const Below& below) {
    const Label label = grammar_.label[symbol];
    if (label < 0) return below();
    const std::size_t place = out_.labels.size();
    out_.labels.push_back(label);
    out_.arity.push_back(0);
    const std::int32_t count = below();
    out_.arity[place] = count;
    return 1;
  }

  const Grammar& grammar_;
  const Forest& forest_;
  const Next& next_;
  Written& out_;
};

// The derivation that forest.maximize found last.
inline void write_best(const Grammar& grammar, const Forest& forest, Written& out) {
  const auto next = [&](std::int32_t node, std::int32_t) { return Step{forest.choices()[node], 0, 0}; };
  Writer(grammar, forest, next, out).write(0);
}

}  // namespace certus::syntax
