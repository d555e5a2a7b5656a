// Changes of the weights of one token's features, by the gradient of its units' scores.
#pragma once

#include <cmath>

#include "learn/rows.hpp"

namespace certus::learn {

class Update {
 public:
  // Gradients up to this share of `least` change nothing.
  static constexpr float kSmall = 0.01f;

  // A pair that has no weight yet gets one from gradients at least as large as `least`.
  Update(Index units, float least) : least_(least), gradient_(units, 0.0f), listed_(units, 0) {}

  void clear() {
    for (const Unit u : touched_) gradient_[u] = 0;
    touched_.clear();
  }
  void add_unit(Unit u, float amount) {
    if (gradient_[u] == 0) touched_.push_back(u);
    gradient_[u] += amount;
  }
  void add(const Tagset& tagset, Label y, float amount) {
    for (std::uint32_t k = tagset.begin[y]; k < tagset.begin[y + 1]; ++k) add_unit(tagset.parts[k], amount);
  }

  // Calls change(weight, memory, gradient) for every weight of the features that has a gradient.
  template <class Change>
  void apply(Rows& rows, const Feature* begin, const Feature* end, const Change& change) {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    std::erase_if(touched_, [this](Unit u) {
      if (std::abs(gradient_[u]) > kSmall * least_) return false;
      gradient_[u] = 0;
      return true;
    });
    std::uint32_t large = 0;
    for (const Unit u : touched_) large += is_large(u);
    if (touched_.empty()) return;
    for (const Feature* f = begin; f < end; ++f) {
      const Rows::Row row = rows.row(*f);
      if (row.dense) apply_dense(rows, *f, row, change);
      else apply_list(rows, *f, row, large, change);
    }
  }

 private:
  bool is_large(Unit u) const { return std::abs(gradient_[u]) >= least_; }

  template <class Change>
  void apply_list(Rows& rows, Feature f, const Rows::Row& row, std::uint32_t large, const Change& change) {
    std::uint32_t present = 0;
    for (std::uint32_t e = 0; e < row.size; ++e) {
      const Unit u = row.unit[e];
      if (gradient_[u] == 0) continue;
      present += is_large(u);
      change(row.weight()[e], row.memory()[e], gradient_[u]);
    }
    if (present == large) return;
    ++row_number_;
    for (std::uint32_t e = 0; e < row.size; ++e) listed_[row.unit[e]] = row_number_;
    for (const Unit u : touched_)
      if (listed_[u] != row_number_) append(rows, f, u, change);
  }

  template <class Change>
  void apply_dense(Rows& rows, Feature f, const Rows::Row& row, const Change& change) {
    for (const Unit u : touched_) {
      if (row.unit[u] == Rows::kNone) append(rows, f, u, change);
      else change(row.weight()[u], row.memory()[u], gradient_[u]);
    }
  }

  template <class Change>
  void append(Rows& rows, Feature f, Unit u, const Change& change) {
    if (!is_large(u)) return;
    float weight = 0, memory = 0;
    change(weight, memory, gradient_[u]);
    rows.append(f, u, weight, memory);
  }

  const float least_;
  std::vector<float> gradient_;        // [units]
  std::vector<std::uint64_t> listed_;  // [units] when a row was last seen that lists the unit,
  std::uint64_t row_number_ = 0;       // and what time it is
  std::vector<Unit> touched_;          // those that are not zero, and before `apply` perhaps some that are again
};

}  // namespace certus::learn
