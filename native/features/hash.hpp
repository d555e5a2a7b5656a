// The keys of features.
#pragma once

#include "base/hash.hpp"

namespace certus::features {

using namespace hashing;

}  // namespace certus::features
