// A sentence of a chain as steps of the shared recursion (base/forward_backward.hpp): its scores are the nodes, those
// of the start and the end included, and `Sums` are the steps over either kind of transitions.
#pragma once

#include "base/arena.hpp"
#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "chain/run.hpp"

namespace certus {

template <class Steps, class Kind, class S, class Sums>
class ChainSteps : public StepsOver<Steps, Kind> {
 public:
  // alpha [T][L] is filled.
  ChainSteps(const Model<S>& model, const Sentence<S>& sentence, Sums& sums, double* alpha, Arena& arena)
      : model_(model), sentence_(sentence), sums_(sums), alpha_(alpha), beta_(arena.get<double>(2 * padded(width()))) {}

  Index width() const { return model_.labels(); }
  Index work() const { return 32 * width() + (model_.only_sparse() ? 0 : width() * width() / 2); }
  double* alpha(Index t) const { return alpha_ + t * width(); }
  double* beta(Index) const { return beta_; }
  double* onward(Index) const { return beta_ + padded(width()); }

  void forward(Index t, const double* from, double* to) { sums_.forward(t - 1, from, to); }
  void backward(Index t, const double* from, double* to) { sums_.backward(t - 1, from, to); }
  void weigh(Index t, double* x) const {
    add(sentence_.data + t * sentence_.stride, x);
    if (t == 0 && model_.start()) add(model_.start(), x);
    if (t == sentence_.length - 1 && model_.end()) add(model_.end(), x);
  }

 private:
  void add(const S* row, double* x) const {
    for (Index y = 0; y < width(); ++y) x[y] += static_cast<double>(row[y]);
  }

  const Model<S>& model_;
  const Sentence<S>& sentence_;
  Sums& sums_;
  double *alpha_, *beta_;
};

}  // namespace certus
