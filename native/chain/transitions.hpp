// The two ways transition scores are held. Both answer the same questions, so solvers are written once:
//   at(t, i, j)        the score of going from label i at position t to label j at position t + 1
//   row(t, i, buffer)  a pointer to the scores of leaving label i at position t, one per label
#pragma once

#include <algorithm>

#include "base/types.hpp"

namespace certus {

// A matrix [from][to], or one matrix per position.
template <class S>
struct Dense {
  using Score = S;
  const S* data;  // [positions][labels][stride]
  Index labels;
  Index stride;  // elements from row to row
  Index step;    // elements from position to position; 0 where all positions share one matrix

  S at(Index t, Label i, Label j) const { return data[t * step + i * stride + j]; }
  const S* row(Index t, Label i, S*) const { return data + t * step + i * stride; }
};

// One score for most pairs, and the others listed by row and by column.
template <class S>
struct Sparse {
  using Score = S;
  Index labels;
  S fallback;              // the score of every pair that is not listed
  const Index* row_begin;  // [labels + 1]
  const Label* row_to;     // [entries], increasing within a row
  const S* row_score;      // [entries]
  const Index* column_begin;
  const Label* column_from;
  const S* column_score;

  S at(Index, Label i, Label j) const {
    const Label* begin = row_to + row_begin[i];
    const Label* end = row_to + row_begin[i + 1];
    const Label* found = std::lower_bound(begin, end, j);
    return found != end && *found == j ? row_score[found - row_to] : fallback;
  }
  const S* row(Index, Label i, S* buffer) const {
    std::fill(buffer, buffer + labels, fallback);
    for (Index n = row_begin[i]; n < row_begin[i + 1]; ++n) buffer[row_to[n]] = row_score[n];
    return buffer;
  }
  // The same with rows for columns.
  Sparse transpose() const {
    return {labels, fallback, column_begin, column_from, column_score, row_begin, row_to, row_score};
  }
  // The scores of entering label j.
  const S* column(Label j, S* buffer) const {
    std::fill(buffer, buffer + labels, fallback);
    for (Index n = column_begin[j]; n < column_begin[j + 1]; ++n) buffer[column_from[n]] = column_score[n];
    return buffer;
  }
};

}  // namespace certus
