// How vectors go out, as NumPy arrays that own them.
#pragma once

#include <vector>

#include "bindings/arrays.hpp"

namespace certus {

template <class X>
nb::ndarray<nb::numpy, X, nb::ndim<1>> array(std::vector<X>&& values) {
  auto* kept = new std::vector<X>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<X>*>(p); });
  return {kept->data(), {kept->size()}, owner};
}

}  // namespace certus
