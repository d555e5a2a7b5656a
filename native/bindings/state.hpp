// What learners keep between epochs: arrays by name.
#pragma once

#include "bindings/arrays.hpp"
#include "bindings/text.hpp"

namespace certus {

inline constexpr const char* kOther = "the state is of a learner with other features, labels or options";

// An array of a state, of a given length unless that is negative.
template <class X>
Flat<const X> get(const nb::dict& state, const char* name, Index size = -1) {
  Flat<const X> found;
  if (!state.contains(name) || !nb::try_cast(nb::object(state[name]), found))
    refuse(std::string("the state lacks the array ") + name);
  if (size >= 0 && extent(found) != size) refuse(kOther);
  return found;
}

}  // namespace certus
