// Exact dynamic programming for narrow problems: variables are maximised out one after the other (Bertelè & Brioschi
// 1972). The best score over a variable, given those that it shares a table with, is a table of theirs.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::relax {

// Scores of the states of some variables together, in the order of C; -inf forbids.
struct Scope {
  std::vector<Index> variables;
  std::vector<double> scores;
};

// An order in which all tables on the way stay small: the variable with the smallest one is next.
struct EliminationOrder {
  std::vector<Index> variables;  // empty where no order was found
  double entries = 0;            // of all tables on the way, infinite where no order was found
};
// states[variables]; `most` entries of all tables together.
EliminationOrder find_order(const std::vector<Index>& states, const std::vector<std::vector<Index>>& scopes,
                            double most);

// The best state of each variable; empty where every assignment is forbidden.
std::vector<Index> eliminate(const std::vector<Index>& states, std::vector<Scope> scopes,
                             const std::vector<Index>& order);

}  // namespace certus::relax
