// A forest and a language model as an integer program (Rush & Collins 2011, constraints D0 to D6).
//
// A column for each edge: derivations are flows from the goal. One unit of flow more walks through the graph of leaves,
// from <s> to </s>, with the state of the language model: a column for each step and each state in which it may be
// taken. Both take the same steps. The paper's paths of three leaves are flows of two steps; this one is never weaker.
#pragma once

#include "translate/hierarchical/forest_search.hpp"

namespace certus::translate {

// maximise cost x, rows x = target, 0 <= x <= upper; the first `edges` columns are whole numbers. Columns are sparse.
struct ForestProgram {
  Index edges = 0;
  std::vector<double> cost, upper;       // [columns]
  std::vector<double> target;            // [rows]
  std::vector<std::int32_t> start, row;  // [columns + 1] into `row` and `value`
  std::vector<double> value;
};

// Throws std::invalid_argument where there would be more columns than that, where something derives no words, and where
// a derivation may have a node twice.
ForestProgram make_program(const ForestProblem& problem, Index most);
// The answer that somebody else found: marks of sorted edges, whether it is proven, and a bound of theirs.
ForestAnswer judge_program(const ForestProblem& problem, const std::vector<char>& chosen, bool is_best, double bound);

}  // namespace certus::translate
