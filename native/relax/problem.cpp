#include "relax/problem.hpp"

#include <utility>

namespace certus::relax {

void Problem::add(std::shared_ptr<Part> part, const std::vector<Index>& variables, double weight) {
  variable_.insert(variable_.end(), variables.begin(), variables.end());
  owner_.resize(variable_.size(), parts());
  parts_.push_back(std::move(part));
  weight_.push_back(weight);
  begin_.push_back(copies());
}

void Problem::link(Index variables, std::vector<std::uint8_t> reserve) {
  reserve_ = std::move(reserve);
  reserve_.resize(variables, 0);
  variable_begin_.assign(variables + 1, 0);
  for (const Index v : variable_) ++variable_begin_[v + 1];
  for (Index v = 0; v < variables; ++v) variable_begin_[v + 1] += variable_begin_[v];
  std::vector<Index> next(variable_begin_.begin(), variable_begin_.end() - 1);
  copies_.resize(copies());
  place_.resize(copies());
  for (Index copy = 0; copy < copies(); ++copy) {
    place_[copy] = next[variable_[copy]]++;
    copies_[place_[copy]] = copy;
  }
  has_each_once_.assign(parts(), 1);
  for (Index i = 1; i < copies(); ++i)  // the copies of a variable are in the order of their parts
    if (const Index a = copies_[i - 1], b = copies_[i]; owner_[a] == owner_[b] && variable_[a] == variable_[b])
      has_each_once_[owner_[a]] = 0;
}

bool has_cheap_max_marginals(const Problem& problem) {
  for (Index p = 0; p < problem.parts(); ++p)
    if (!problem.part(p).offers_max_marginals() || !problem.part(p).has_cheap_max_marginals()) return false;
  return true;
}

}  // namespace certus::relax
