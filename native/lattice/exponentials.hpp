// Exponentials of a row of scores in single precision, which the compiler vectorises.
#pragma once

#include "base/types.hpp"

namespace certus::lattice {

inline constexpr float kFar = -87.0f;  // exp of this is about the smallest normal number

// Replaces x[i] by exp(x[i] - shift); returns the sum. What is far below the shift stays above 0.
float exponentiate(float* x, Index n, float shift);
float find_largest(const float* x, Index n);

}  // namespace certus::lattice
