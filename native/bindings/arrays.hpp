// How NumPy and torch arrays come in.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "chain/run.hpp"

namespace nb = nanobind;

namespace certus {

template <class X, class... Shape>
using Array = nb::ndarray<X, Shape..., nb::device::cpu>;
template <class S>
using Matrix = Array<const S, nb::ndim<2>>;
template <class X>
using Flat = Array<X, nb::ndim<1>, nb::c_contig>;
template <class X>
using Table = Array<X, nb::ndim<2>, nb::c_contig>;

template <class S>
Sentence<S> sentence(const Matrix<S>& x) {
  return {x.data(), static_cast<Index>(x.shape(0)), x.stride(0)};
}

}  // namespace certus
