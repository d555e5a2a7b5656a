// "No limit", written one way: of times in seconds, and of counts.
#pragma once

#include <limits>

#include "base/types.hpp"

namespace certus {

inline constexpr double kNoTimeLimit = std::numeric_limits<double>::infinity();
inline constexpr Index kNoCountLimit = std::numeric_limits<Index>::max();

}  // namespace certus
