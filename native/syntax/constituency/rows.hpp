// Vector steps over rows of single-precision scores, for whatever vectors the machine has.
//
// Rows are worked on in blocks of kLanes; they are readable and writable to the end of the last one.
#pragma once

#include "base/types.hpp"

namespace certus::syntax {

inline constexpr Index kLanes = 16;
inline Index blocks(Index count) { return (count + kLanes - 1) / kLanes; }

// out[i] = max over n < count of from[2n][i] + from[2n + 1][i]; returns whether any is above -inf.
bool best_sums(float* out, const float* const* from, Index count, Index blocks);

// row[i] = max(row[i], from[i] + score)
void raise_row(float* row, const float* from, float score, Index blocks);

// The largest of a row.
float largest(const float* row, Index blocks);

// out[i] = above[i] + score + left[i] + right[i]; returns the largest.
float sums_through(float* out, const float* above, float score, const float* left, const float* right, Index blocks);

}  // namespace certus::syntax
