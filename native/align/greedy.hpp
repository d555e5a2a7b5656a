// Answers to the problem of bidirectional.hpp that are valid, and good: Chang et al. (2014), §6.2.
#pragma once

#include "align/dual.hpp"

namespace certus::align {

class Greedy {
 public:
  explicit Greedy(const Agreed& problem) : problem_(problem) {}

  // Starts from the links that both directions have, and makes the best single change (a link of both directions or of
  // one, or no link) for as long as that raises the score. Values that `dual` rules out are not tried.
  Choices improve(const Choices& paths, const Dual& dual) const;

 private:
  bool improve_once(Choices& choices, double& score, const Dual& dual) const;

  const Agreed problem_;
};

}  // namespace certus::align
