// Forward and backward Viterbi passes. A path through label y at position t is the best prefix that ends there and
// the best suffix that starts there.
#include "chain/marginals/max_marginals.hpp"

#include <algorithm>
#include <vector>

namespace certus {
namespace {

// Calls use(i, row of the transitions from label i at position t).
template <class Use>
void each_row(const Model<double>& model, Index t, double* buffer, Use use) {
  for (Index i = 0; i < model.labels(); ++i) {
    const Label from = static_cast<Label>(i);
    use(i, model.only_sparse() ? model.sparse().row(t, from, buffer) : model.dense().row(t, from, nullptr));
  }
}

void add(const double* row, Index n, double* out) {
  for (Index y = 0; y < n; ++y) out[y] += row[y];
}

}  // namespace

void max_marginals(const Model<double>& model, const Sentence<double>& sentence, double* best) {
  const Index T = sentence.length, L = model.labels();
  if (T == 0) return;
  std::vector<double> suffix(L, 0.0), onward(L), buffer(L);
  // best[t]: the best prefixes, the nodes of position t included.
  std::fill(best, best + L, 0.0);
  if (model.start()) add(model.start(), L, best);
  add(sentence.data, L, best);
  for (Index t = 1; t < T; ++t) {
    const double* before = best + (t - 1) * L;
    double* now = best + t * L;
    std::fill(now, now + L, kNever<double>);
    each_row(model, t - 1, buffer.data(), [&](Index i, const double* row) {
      const double from = before[i];
      if (from == kNever<double>) return;
      for (Index y = 0; y < L; ++y) now[y] = now[y] > from + row[y] ? now[y] : from + row[y];
    });
    add(sentence.data + t * sentence.stride, L, now);
  }
  if (model.end()) add(model.end(), L, suffix.data());
  for (Index t = T - 1;; --t) {
    add(suffix.data(), L, best + t * L);
    if (t == 0) return;
    onward = suffix;
    add(sentence.data + t * sentence.stride, L, onward.data());
    each_row(model, t - 1, buffer.data(), [&](Index i, const double* row) {
      double most = kNever<double>;
      for (Index y = 0; y < L; ++y) most = most > row[y] + onward[y] ? most : row[y] + onward[y];
      suffix[i] = most;
    });
  }
}

}  // namespace certus
