// The directed graph of the leaves of a forest (Rush & Collins 2011, figure 2).
//
// Each word of the right-hand side of an edge is a leaf of its own. A walk through a derivation, from the goal down and
// from left to right, enters and leaves nodes and leaves; a step leads from one such event to the next:
//   into the first symbol after entering a node, into a symbol after leaving the one to its left,
//   out of a node after leaving its last symbol.
// The graph has the steps of all edges. A way through it from leaf to leaf may mix those of many derivations.
#pragma once

#include "translate/hierarchical/target_forest.hpp"

namespace certus::translate {

struct LeafGraph {
  Index nodes = 0;
  std::vector<Word> leaf;         // [leaves] the word of each
  std::vector<Index> leaf_at;     // [symbols of the forest] the leaf that each is, -1 for nodes
  std::vector<Index> leaf_first;  // [edges + 1] the leaves of an edge
  std::vector<Index> from, to;    // [steps] events
  std::vector<Index> step_first;  // [edges + 1] into `steps`
  std::vector<Index> steps;       // of edges, from left to right: one more than symbols
  std::vector<Index> enters;      // [leaves] the step into each
  std::vector<Index> into_first;  // [2 * nodes + 1] into `into`
  std::vector<Index> into;        // the steps to each event of a node

  explicit LeafGraph(const TargetForest& forest);

  Index leaves() const { return static_cast<Index>(leaf.size()); }
  static Index enter(Index node) { return 2 * node; }
  static Index leave(Index node) { return 2 * node + 1; }
  Index enter_leaf(Index l) const { return 2 * (nodes + l); }
  Index leave_leaf(Index l) const { return 2 * (nodes + l) + 1; }
  bool is_leaf(Index event) const { return event >= 2 * nodes; }
  Index find_leaf(Index event) const { return event / 2 - nodes; }
};

}  // namespace certus::translate
