// How vectors go out: as NumPy arrays that own them, or as the fields of records, which arrays then keep alive.
#pragma once

#include <vector>

#include "bindings/arrays.hpp"

namespace certus {

template <class X, class... Shape>
nb::ndarray<nb::numpy, X, nb::ndim<sizeof...(Shape)>> reshape(std::vector<X>&& values, Shape... shape) {
  auto* kept = new std::vector<X>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<X>*>(p); });
  return {kept->data(), {static_cast<std::size_t>(shape)...}, owner};
}
template <class X>
auto array(std::vector<X>&& values) {
  const std::size_t size = values.size();
  return reshape(std::move(values), size);
}

// Binds fields of a record by their names: define_arrays(class, "labels", &Record::labels, ...).
template <class Record, class... Bases, class X, class... More>
auto define_arrays(nb::class_<Record, Bases...> bound, const char* name, std::vector<X> Record::* field, More... more) {
  bound.def_prop_ro(name, [field](nb::handle_t<Record> self) {
    std::vector<X>& values = nb::cast<Record&>(self).*field;
    return nb::ndarray<nb::numpy, X, nb::ndim<1>>(values.data(), {values.size()}, self);
  });
  if constexpr (sizeof...(More) > 0) define_arrays(bound, more...);
  return bound;
}

}  // namespace certus
