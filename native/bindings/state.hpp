// What learners keep between epochs: arrays by name.
#pragma once

#include <variant>

#include "bindings/text.hpp"
#include "bindings/vectors.hpp"

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
    return get<double>(state, "numbers", static_cast<Index>(fields_.size()));
  }
  void restore(const Flat<const double>& found) const {
    const double* next = found.data();
    for (const Field& field : fields_) std::visit([&]<class X>(X* x) { *x = static_cast<X>(*next++); }, field);
  }

 private:
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
