// How parts of decompositions come from Python: each kind has a function that makes one of these.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "relax/part.hpp"

namespace certus {

// A native part on its way from the room that made it to a Relaxation. What it refers to is kept alive by whoever
// returns it to Python (nb::keep_alive).
struct RelaxPart {
  std::shared_ptr<relax::Part> part;
  // What Python gets of a structure that the part found; null where the used cells say it all.
  std::function<nanobind::object(const std::shared_ptr<void>&)> read = nullptr;
};

}  // namespace certus
