// How vectors go out: as NumPy arrays that own them, or as the fields of records, which arrays then keep alive.
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

// Binds fields of a record by their names: define_arrays(class, "labels", &Record::labels, ...).
template <class Record, class X, class... More>
void define_arrays(nb::class_<Record>& bound, const char* name, std::vector<X> Record::* field, More... more) {
  bound.def_prop_ro(name, [field](nb::handle_t<Record> self) {
    std::vector<X>& values = nb::cast<Record&>(self).*field;
    return nb::ndarray<nb::numpy, X, nb::ndim<1>>(values.data(), {values.size()}, self);
  });
  if constexpr (sizeof...(More) > 0) define_arrays(bound, more...);
}

}  // namespace certus
