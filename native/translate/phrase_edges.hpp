// The graph of a sentence written out, for other solvers: nodes are (words translated, end of the last phrase, state).
#pragma once

#include "translate/phrases.hpp"

namespace certus::translate {

struct PhraseEdges {
  Index nodes = 0;                   // the first one is the beginning, the last one the end
  std::vector<Index> tail, head;     // [edges]
  std::vector<Index> begin, end;     // [edges] the source words that each translates; none for those to the end
  std::vector<std::int32_t> option;  // [edges] its phrase, or -1
  std::vector<double> cost;          // [edges]
};

// Throws std::invalid_argument where there are more edges than this.
PhraseEdges list_edges(const PhraseProblem& problem, Index most);

}  // namespace certus::translate
