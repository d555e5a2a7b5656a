// Probabilities of arcs in non-projective trees, p(tree) proportional to exp(score).
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"

namespace certus::syntax {

class MatrixTree {
 public:
  // The logarithm of the sum of exp(score) over all trees, -inf where there is none, and each arc's share of it.
  template <class S>
  double marginals(const Arcs& arcs, const S* scores, bool single_root, double* out);

 private:
  template <class Domain>
  bool solve(const Arcs& arcs, double* log_sum, double* out);
  template <class Domain>
  bool eliminate(double* log_sum);
  template <class Domain>
  void distribute();
  template <class Domain>
  Index choose_word();
  template <class Domain>
  void fill(const Arcs& arcs);

  Index n_ = 0;
  bool single_ = false;
  std::vector<double> score_;           // [arcs]: less the best into the same word
  std::vector<double> weight_, share_;  // [n + 1][n + 1]: [head][word]
  std::vector<double> sum_;             // [n + 1]: of the weights into a word when it was eliminated
  std::vector<Index> order_;            // of elimination; from `eliminated` on those that are left
  Index eliminated_ = 0;
};

}  // namespace certus::syntax
