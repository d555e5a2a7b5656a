// How NumPy and torch arrays come in.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "base/types.hpp"

namespace nb = nanobind;

namespace certus {

// What is defined with this runs without Python's lock. It takes arrays by reference, since the lock guards their end.
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

template <class X, class... Shape>
using Array = nb::ndarray<X, Shape..., nb::device::cpu>;
template <class S>
using Matrix = Array<const S, nb::ndim<2>>;
template <class X>
using Flat = Array<X, nb::ndim<1>, nb::c_contig>;
template <class X>
using Table = Array<X, nb::ndim<2>, nb::c_contig>;

template <class X>
Index extent(const X& array, std::size_t axis = 0) {
  return static_cast<Index>(array.shape(axis));
}

template <class X>
std::vector<X> copy(const Flat<const X>& x) {
  return {x.data(), x.data() + x.shape(0)};
}

// Binds fields of a record by their names: define_fields(class, "score", &Record::score, ...).
template <class Record, class... Bases, class Field, class... More>
auto define_fields(nb::class_<Record, Bases...> bound, const char* name, Field field, More... more) {
  bound.def_ro(name, field);
  if constexpr (sizeof...(More) > 0) define_fields(bound, more...);
  return bound;
}

}  // namespace certus
