// Where parts meet: groups of cells that stand for the same variables.
#pragma once

#include <vector>

#include "relax/problem.hpp"

namespace certus::relax {

// Cells of a part, such as the states of one variable of a table, or a single cell that is used or not.
struct Place {
  Index part, begin, end;
  bool exactly_one;
  bool before, after;  // whether the part has cells at separators before this one, and after it
};

// Variables that several parts have, such as the states of a variable of several tables.
struct Separator {
  std::vector<Place> places;
  Index in = 0, out = 0;  // places with separators before, and after
};

// All separators in the order of their first variable. Cells of which exactly one is used stay together where all parts
// have them so. None at all where a part would have more than `most` of them, or has a variable twice.
std::vector<Separator> find_separators(const Problem& problem, Index most);

}  // namespace certus::relax
