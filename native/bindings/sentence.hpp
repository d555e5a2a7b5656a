// How the emissions of a sentence come in.
#pragma once

#include "bindings/arrays.hpp"
#include "chain/run.hpp"

namespace certus {

template <class S>
Sentence<S> sentence(const Matrix<S>& x) {
  return {x.data(), extent(x), x.stride(0)};
}

}  // namespace certus
