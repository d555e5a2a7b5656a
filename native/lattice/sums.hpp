// Sums over the paths of a lattice: the posteriors of its states and edges, in numbers that are divided by the sum of
// their position (base/forward_backward.hpp). Weights are in single precision unless they have to be precise, sums in
// double, or in logarithms where scores are too far apart for that.
#pragma once

#include "lattice/lattice.hpp"

namespace certus::lattice {

// Replaces x[i] by exp(x[i] - shift), in loops that the compiler vectorises; returns the sum. What is far below the
// shift stays above 0.
float exponentiate(float* x, Index n, float shift);
float find_largest(const float* x, Index n);

class Sums {
 public:
  // Makes the posteriors of states, and of edges if they are wanted.
  void find(const Lattice& lattice, bool edges, bool precise = false);

  std::vector<double> probability;       // [states]
  std::vector<double> edge_probability;  // [edges]
  double log_partition = 0;

  // Unless sums had to be taken in logarithms, of an edge into position t exp(edge + node - largest(t)).
  bool has_factors() const { return has_factors_; }
  const double* factors() const { return factor_.data(); }
  double largest(Index t) const { return largest_[t]; }

 private:
  class Steps;
  class LogSteps;

  std::vector<double> alpha_, beta_, onward_;  // [states]
  std::vector<double> factor_;                 // [edges]: exp of the scores of an edge and its target, of its position
  std::vector<double> scale_;                  // [positions]: what alpha was multiplied by
  std::vector<double> largest_;                // [positions]: what is subtracted from the scores of edges
  bool has_factors_ = false;
  std::vector<float> scratch_;  // [edges of a position]
};

}  // namespace certus::lattice
