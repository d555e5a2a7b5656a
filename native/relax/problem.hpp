// Parts, and which of their cells are the same variable.
#pragma once

#include <memory>
#include <vector>

#include "relax/part.hpp"

namespace certus::relax {

// Each cell of each part is a *copy* of a variable that is on or off; copies lie one part after the other.
class Problem {
 public:
  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  // `variables`: of each of the part's cells; its scores count `weight` times.
  void add(std::shared_ptr<Part> part, const std::vector<Index>& variables, double weight = 1.0);
  // Call it once, after the last part. `reserve`, by variable: agreement on it follows from the others, and is enforced
  // only when it is switched on; none where it is empty.
  void link(Index variables, std::vector<std::uint8_t> reserve = {});

  Index parts() const { return static_cast<Index>(parts_.size()); }
  Index variables() const { return static_cast<Index>(variable_begin_.size()) - 1; }
  Index copies() const { return static_cast<Index>(variable_.size()); }
  Part& part(Index p) const { return *parts_[p]; }
  double weight(Index p) const { return weight_[p]; }
  bool is_reserve(Index v) const { return reserve_[v] != 0; }
  // Whether parts have to agree on the variable, from the start on.
  bool is_shared(Index v) const { return count(v) > 1 && !is_reserve(v); }

  // Whether the part has no variable twice.
  bool has_each_once(Index p) const { return has_each_once_[p] != 0; }

  Index begin(Index p) const { return begin_[p]; }  // the first copy of a part
  Index variable(Index copy) const { return variable_[copy]; }
  Index owner(Index copy) const { return owner_[copy]; }
  Index count(Index v) const { return variable_begin_[v + 1] - variable_begin_[v]; }  // copies of a variable

  // The copies of a variable, in the order of their parts.
  const Index* first_copy(Index v) const { return copies_.data() + variable_begin_[v]; }
  const Index* last_copy(Index v) const { return copies_.data() + variable_begin_[v + 1]; }
  // The place of a copy among those of its variable.
  const Index* place(Index copy) const { return copies_.data() + place_[copy]; }

 private:
  std::vector<std::shared_ptr<Part>> parts_;
  std::vector<double> weight_;               // [parts]
  std::vector<std::uint8_t> reserve_;        // [variables]
  std::vector<std::uint8_t> has_each_once_;  // [parts]
  std::vector<Index> begin_{0};              // [parts + 1]
  std::vector<Index> variable_, owner_;      // [copies]
  std::vector<Index> variable_begin_{0}, copies_, place_;
};

// Whether all parts tell what their cells are worth, for little more than their maximum.
bool has_cheap_max_marginals(const Problem& problem);

}  // namespace certus::relax
