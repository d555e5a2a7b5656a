// How parts of decompositions come from Python: each kind has a function that makes one of these.
#pragma once

#include <memory>

#include "relax/part.hpp"

namespace certus {

// A native part on its way from the room that made it to a Relaxation. What it refers to is kept alive by whoever
// returns it to Python (nb::keep_alive).
struct RelaxPart {
  std::shared_ptr<relax::Part> part;
};

}  // namespace certus
