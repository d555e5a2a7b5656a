#include "learn/crf/factored.hpp"

#include <algorithm>

#include "base/arena.hpp"
#include "learn/crf/kernels.hpp"

namespace certus::learn {
namespace {

// The rows of z [T][labels][width], the last of which holds b[t] until the others are made of it.
struct Rows {
  double *a, *z, *r;        // [T][width], [T][labels][width], [T][width]
  double *c, *beta, *part;  // [T], [width], [width]
  double* pairs;            // [T][labels][pair_width]
  Index pair_width;
};

class FactoredSteps : public ScaledRows {
 public:
  FactoredSteps(const CrfSteps& steps, const CrfFactors& factors, const Rows& rows)
      : ScaledRows(steps.width, rows.a, rows.r, rows.c, rows.beta), steps_(steps), factors_(factors), rows_(rows) {}

  CERTUS_INLINE_MEMBER double* onward(Index t) const {
    return rows_.z + ((t + 1) * factors_.labels - 1) * steps_.width;
  }
  CERTUS_INLINE_MEMBER void forward(Index t, const double* from, double* to) const {
    const Index W = steps_.width, m = factors_.latent;
    double* part = rows_.part;
    std::fill_n(to, W, 0.0);
    for (Index y = 0; y < factors_.labels; ++y) {
      const double* x = factor(t, y);
      product(from + y * m, steps_.links + y * m * W, m, W, part);
      for (Index j = 0; j < W; j += kLanes) store(to + j, load(to + j) + load(part + j) * load(x + j));
    }
  }
  // Makes the pairs of labels as well.
  CERTUS_INLINE_MEMBER void backward(Index t, const double* b, double* beta) const {
    const Index W = steps_.width, m = factors_.latent, L = factors_.labels;
    double* part = rows_.part;
    for (Index y = 0; y < L; ++y) {
      const double *x = factor(t, y), *links = steps_.links + y * m * W;
      double* row = rows_.z + (t * L + y) * W;
      for (Index j = 0; j < W; j += kLanes) store(row + j, load(x + j) * load(b + j));
      products(links, row, m, W, beta + y * m);
      product(alpha(t - 1) + y * m, links, m, W, part);
      for (Index j = 0; j < W; j += kLanes) store(part + j, load(part + j) * load(row + j));
      add_states(part, rows_.pairs + (t * L + y) * rows_.pair_width);
    }
  }

 private:
  CERTUS_INLINE_MEMBER const double* factor(Index t, Index y) const {
    return factors_.factor + ((t - 1) * factors_.labels + y) * steps_.width;
  }
  // into[v]: the sum over the states of label v; zeros past the labels.
  CERTUS_INLINE_MEMBER void add_states(const double* part, double* into) const {
    const Index m = factors_.latent, L = factors_.labels;
    for (Index v = 0; v < L; ++v) {
      double sum = 0;
      for (Index k = 0; k < m; ++k) sum += part[v * m + k];
      into[v] = sum;
    }
    std::fill(into + L, into + rows_.pair_width, 0.0);
  }

  const CrfSteps& steps_;
  const CrfFactors& factors_;
  const Rows& rows_;
};

CERTUS_CLONES bool sum_factored(const CrfSteps& steps, const CrfFactors& factors, Index T, const Rows& rows,
                                double* log_z) {
  double taken = 0;
  if (!make_nodes(steps, T, rows.r, rows.c, &taken)) return false;
  FactoredSteps own(steps, factors, rows);
  run_forward(own, T);
  *log_z = taken + steps.taken(T) + factors.largest + own.total.log();
  run_backward(own, T);
  std::fill_n(rows.z, factors.labels * steps.width, 0.0);  // no pair ends at the first position
  std::fill_n(rows.pairs, factors.labels * rows.pair_width, 0.0);
  return true;
}

}  // namespace

bool crf_factored_sum(const CrfSteps& transitions, const CrfFactors& factors, Index T, double* a, double* z, double* r,
                      double* pairs, Index pair_width, double* log_z) {
  const LocalArena arena;
  const Index W = transitions.width;
  const Rows rows{a, z, r, arena.get<double>(T), arena.get<double>(W), arena.get<double>(W), pairs, pair_width};
  CrfSteps steps = transitions;
  steps.range += factors.range;
  return sum_factored(steps, factors, T, rows, log_z);
}

}  // namespace certus::learn
