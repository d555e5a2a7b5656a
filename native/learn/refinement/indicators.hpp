// Products with a matrix of indicator features that is stored as the ids of its ones: row r has ones at ids[r][0 ..
// width), of which negative ones stand for nothing.
#pragma once

#include "base/types.hpp"

namespace certus::learn::refinement {

struct Indicators {
  const std::int32_t* ids;  // [rows][width]
  Index rows, width;
};

// to[r] = sum over the ones c of row r of table[c]; the table has k columns.
void indicator_times(const Indicators& features, const double* table, Index k, double* to);

// to[c] = sum over the rows r with a one at c of weight[r] from[r]; `to` is overwritten and has `columns` rows.
void indicator_transposed_times(const Indicators& features, const double* weight, const double* from, Index k,
                                double* to, Index columns);

}  // namespace certus::learn::refinement
