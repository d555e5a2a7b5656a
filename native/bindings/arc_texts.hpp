// What the bindings of dependency parsers share.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/interrupt.hpp"
#include "bindings/state.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"

namespace certus {

template <class Learner>
auto run_epoch(Learner& self, Flat<const Index> order) {
  check_order(order, self.corpus().sentences());
  const nb::gil_scoped_release released;
  return self.epoch(order.data(), extent(order));
}

// Weights as multiples of a step, of which the largest is 32,767.
inline nb::tuple quantize(const std::vector<float>& weights) {
  float most = 0;
  for (const float w : weights) most = std::max(most, std::abs(w));
  const float step = most > 0 ? most / 32767 : 1;
  std::vector<std::int16_t> out(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) out[i] = static_cast<std::int16_t>(std::lround(weights[i] / step));
  return nb::make_tuple(array(std::move(out)), step);
}

}  // namespace certus
