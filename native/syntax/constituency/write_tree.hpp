// A derivation written out as the tree it stands for, without what binarisation made.
#pragma once

#include <vector>

#include "syntax/constituency/pack.hpp"

namespace certus::syntax {

// Nodes in preorder: the label of each and how many children it has, 0 over a word.
struct WrittenTree {
  std::vector<Label> labels;
  std::vector<std::int32_t> arity;
  std::vector<Label> tags;  // [word]
  double score = 0;         // the sum along the derivation, without adjustments
};

// The tree of a derivation, whose edges are given in preorder.
WrittenTree write_tree(const Grammar& grammar, const ParseForest& forest, const std::vector<hypergraph::Edge>& edges);

}  // namespace certus::syntax
