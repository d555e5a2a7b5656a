// The words every native file uses.
#pragma once

#include <cstdint>
#include <limits>

namespace certus {

using Index = std::int64_t;  // positions, counts, sizes
using Label = std::int32_t;  // label ids; more than 65,536 are fine

template <class S>
inline constexpr S kNever = -std::numeric_limits<S>::infinity();  // the score of what is forbidden

}  // namespace certus
