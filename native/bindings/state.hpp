// What learners keep between epochs: arrays by name.
#pragma once

#include <cmath>
#include <variant>

#include "bindings/text.hpp"
#include "bindings/vectors.hpp"

namespace certus {

inline constexpr const char* kOther = "the state is of a learner with other features, labels or options";

inline constexpr double kLargestLearned = 1e30;  // of what is learned: sums of many are in the range of every type

// Refuses an order of sentences that there are not.
inline void check_order(const Flat<const Index>& order, Index sentences) {
  for (std::size_t n = 0; n < order.shape(0); ++n)
    if (order.data()[n] < 0 || order.data()[n] >= sentences)
      refuse("there is no sentence " + std::to_string(order.data()[n]) + " among " + std::to_string(sentences));
}

// An array of a state, of a given length unless that is negative.
template <class X>
Flat<const X> get(const nb::dict& state, const char* name, Index size = -1) {
  Flat<const X> found;
  if (!state.contains(name) || !nb::try_cast(nb::object(state[name]), found))
    refuse(std::string("the state lacks the array ") + name);
  if (size >= 0 && extent(found) != size) refuse(kOther);
  if constexpr (std::is_floating_point_v<X>)
    for (Index n = 0; n < extent(found); ++n)
      if (!(std::abs(found.data()[n]) <= kLargestLearned)) refuse(std::string("the state holds no number in ") + name);
  return found;
}

// Single numbers of a learner, and arrays of them, which are kept as one array in the order in which they are given.
class Numbers {
 public:
  template <class... Fields>
  explicit Numbers(Fields&... fields) {
    (add(fields), ...);
  }

  auto write() const {
    std::vector<double> out;
    for (const Field& field : fields_)
      std::visit([&](const auto* x) { out.push_back(static_cast<double>(*x)); }, field);
    return array(std::move(out));
  }
  // What a state has for them, to be put in their places by `restore`.
  Flat<const double> find(const nb::dict& state) const {
    const auto found = get<double>(state, "numbers", static_cast<Index>(fields_.size()));
    for (std::size_t n = 0; n < fields_.size(); ++n)
      if (std::holds_alternative<Index*>(fields_[n]) && !(found.data()[n] >= 0 && found.data()[n] <= kMostSteps))
        refuse(kOther);
    return found;
  }
  void restore(const Flat<const double>& found) const {
    const double* next = found.data();
    for (const Field& field : fields_) std::visit([&]<class X>(X* x) { *x = static_cast<X>(*next++); }, field);
  }

 private:
  static constexpr double kMostSteps = 1e15;  // which a double counts exactly
  using Field = std::variant<Index*, float*, double*, bool*>;
  template <class X>
  void add(X& field) {
    if constexpr (std::is_array_v<X>)
      for (auto& x : field) fields_.emplace_back(&x);
    else fields_.emplace_back(&field);
  }

  std::vector<Field> fields_;
};

}  // namespace certus
