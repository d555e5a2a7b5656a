// Which cells are the same variable, from pairs of cells that have to agree.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::relax {

struct CellClasses {
  std::vector<Index> cells;   // those that agree with another one, in rising order,
  std::vector<Index> number;  // and the class of each: classes are numbered by their least cells
};

// Agreement is transitive; `left[i]` agrees with `right[i]`, and all are below `size`.
CellClasses merge_cells(Index size, const Index* left, const Index* right, Index pairs);

}  // namespace certus::relax
