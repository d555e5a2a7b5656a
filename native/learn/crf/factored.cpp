#include "learn/crf/factored.hpp"

#include <algorithm>
#include <cmath>

#include "base/arena.hpp"
#include "learn/crf/kernels.hpp"

namespace certus {
namespace {

struct Scratch {
  double *c, *beta, *part;  // [T], [width], [width]
};

CERTUS_INLINE double forward(const CrfSteps& steps, const CrfFactors& factors, Index T, const double* r, double* a,
                             const Scratch& scratch) {
  const Index W = steps.width, m = factors.latent;
  LogProduct product_of_c;
  for (Index t = 0; t < T; ++t) {
    double* now = a + t * W;
    std::fill_n(now, W, t ? 0.0 : 1.0);
    for (Index y = 0; t && y < factors.labels; ++y) {
      const double* factor = factors.factor + ((t - 1) * factors.labels + y) * W;
      product(now - W + y * m, steps.links + y * m * W, m, W, scratch.part);
      for (Index j = 0; j < W; j += kLanes) store(now + j, load(now + j) + load(scratch.part + j) * load(factor + j));
    }
    product_of_c.times(scratch.c[t] = weigh_and_scale(now, r + t * W, W));
  }
  return product_of_c.log();
}

// z[t], the probabilities in r, and the pairs of labels, from the last position on.
CERTUS_INLINE void backward(const CrfSteps& steps, const CrfFactors& factors, Index T, const double* a, double* z,
                            double* r, double* pairs, Index pair_width, const Scratch& scratch) {
  const Index W = steps.width, m = factors.latent, L = factors.labels;
  double *beta = scratch.beta, *part = scratch.part;
  std::fill_n(beta, W, 1.0);
  for (Index t = T - 1; t >= 0; --t) {
    double* own = z + t * L * W;  // b[t] first, in the last of its rows
    double* b = own + (L - 1) * W;
    look_back(beta, a + t * W, 1 / scratch.c[t], W, b, r + t * W);
    if (t == 0) break;
    for (Index y = 0; y < L; ++y) {
      const double* factor = factors.factor + ((t - 1) * L + y) * W;
      double* row = own + y * W;
      for (Index j = 0; j < W; j += kLanes) store(row + j, load(factor + j) * load(b + j));
      products(steps.links + y * m * W, row, m, W, beta + y * m);
      product(a + (t - 1) * W + y * m, steps.links + y * m * W, m, W, part);
      for (Index j = 0; j < W; j += kLanes) store(part + j, load(part + j) * load(row + j));
      double* into = pairs + (t * L + y) * pair_width;
      for (Index v = 0; v < L; ++v) {
        double sum = 0;
        for (Index k = 0; k < m; ++k) sum += part[v * m + k];
        into[v] = sum;
      }
      std::fill(into + L, into + pair_width, 0.0);
    }
  }
  std::fill_n(z, L * W, 0.0);
  std::fill_n(pairs, L * pair_width, 0.0);
}

CERTUS_CLONES bool summed(const CrfSteps& steps, const CrfFactors& factors, Index T, double* a, double* z, double* r,
                          double* pairs, Index pair_width, const Scratch& scratch, double* log_z) {
  double taken = 0;
  if (!nodes(steps, T, r, scratch.c, &taken)) return false;
  *log_z = taken + steps.taken(T) + factors.largest + forward(steps, factors, T, r, a, scratch);
  backward(steps, factors, T, a, z, r, pairs, pair_width, scratch);
  return true;
}

}  // namespace

bool crf_factored_sum(const CrfSteps& transitions, const CrfFactors& factors, Index T, double* a, double* z, double* r,
                      double* pairs, Index pair_width, double* log_z) {
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  const Scratch scratch{arena.get<double>(T), arena.get<double>(transitions.width),
                        arena.get<double>(transitions.width)};
  CrfSteps steps = transitions;
  steps.range += factors.range;
  return summed(steps, factors, T, a, z, r, pairs, pair_width, scratch, log_z);
}

}  // namespace certus
