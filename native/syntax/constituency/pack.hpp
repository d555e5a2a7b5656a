// The derivations of a sentence that reach a threshold, packed into a hypergraph.
#pragma once

#include <vector>

#include "hypergraph/forest.hpp"
#include "syntax/constituency/chart.hpp"

namespace certus::syntax {

// Nodes are symbols over spans, bottoms and tops apart. A top has edges to bottoms of its span, below a chain of unary
// rules (or none, and then the symbols are the same); a bottom has edges to two tops side by side, or one edge without
// tails: it stands over a word. Every question about the derivations is one for the hypergraph (hypergraph/passes.hpp,
// derivation.hpp, kbest.hpp).
struct ParseForest {
  struct Word {
    hypergraph::Node node;
    hypergraph::Edge edge;  // the node's only one
    std::int32_t position;
    Label tag;
  };

  hypergraph::Forest graph;
  std::vector<double> scores;            // [edge] without adjustments
  std::vector<Label> symbols;            // [node]
  std::vector<std::int32_t> begin, end;  // [node] its span
  std::vector<Word> words;
};

// Packs what of a chart scores at most a margin less than the best (and perhaps some that scores less). `leaves` are
// those the chart was filled from; words score by them, without adjustments. Where there is no tree, the goal has no
// edges.
ParseForest pack(const Grammar& grammar, const Chart& chart, const Leaves& leaves, double margin);

}  // namespace certus::syntax
