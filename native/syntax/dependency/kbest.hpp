// The k best trees of a program, through the hypergraph that it is.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"
#include "syntax/dependency/program.hpp"

namespace certus::syntax {

struct RankedTrees {
  std::vector<Label> arcs;     // [trees * n]: the arc into each word
  std::vector<double> scores;  // [trees], decreasing
  std::vector<double> bounds;  // [trees]: no tree that is not before it scores more; equal to scores where proven
  bool exhausted = true;       // whether these are all trees
};

// `program` has a goal. Ends early, with at least one tree, where the watch says that the time is over.
RankedTrees rank_trees(const Arcs& arcs, const Program& program, Index k, relax::Watch* watch = nullptr);

}  // namespace certus::syntax
