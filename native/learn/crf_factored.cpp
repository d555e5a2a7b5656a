#include "learn/crf_factored.hpp"

#include <algorithm>
#include <cmath>

#include "arena.hpp"
#include "learn/crf_kernels.hpp"

namespace certus {
namespace {

struct Scratch {
  double *c, *beta, *part;  // [T], [width], [width]
};

CERTUS_INLINE double forward(const CrfSteps& steps, const CrfFactors& factors, Index T, const double* r, double* a,
                             const Scratch& scratch) {
  const Index W = steps.width, m = factors.latent;
  double logs = 0, product_of_c = 1;
  for (Index t = 0; t < T; ++t) {
    double* now = a + t * W;
    if (t) std::fill_n(now, W, 0.0);
    else std::fill_n(now, W, 1.0);
    for (Index y = 0; t && y < factors.labels; ++y) {
      const double* factor = factors.factor + ((t - 1) * factors.labels + y) * W;
      product(now - W + y * m, steps.links + y * m * W, m, W, scratch.part);
      for (Index j = 0; j < W; j += kLanes)
        store(now + j, load(now + j) + load(scratch.part + j) * load(factor + j));
    }
    Vec sum = {};
    for (Index j = 0; j < W; j += kLanes) {
      const Vec x = load(now + j) * load(r + t * W + j);
      store(now + j, x);
      sum += x;
    }
    scratch.c[t] = add_lanes(sum);
    const double scale = 1 / scratch.c[t];
    for (Index j = 0; j < W; j += kLanes) store(now + j, load(now + j) * scale);
    product_of_c *= scratch.c[t];
    if (product_of_c < 1e-30 || product_of_c > 1e30) logs += std::log(product_of_c), product_of_c = 1;
  }
  return logs + std::log(product_of_c);
}

// z[t], the probabilities in r, and the pairs of labels, from the last position on.
CERTUS_INLINE void backward(const CrfSteps& steps, const CrfFactors& factors, Index T, const double* a, double* z, double* r,
                            double* pairs, Index pair_width, const Scratch& scratch) {
  const Index W = steps.width, m = factors.latent, L = factors.labels;
  double *beta = scratch.beta, *part = scratch.part;
  std::fill_n(beta, W, 1.0);
  for (Index t = T - 1; t >= 0; --t) {
    double* own = z + t * L * W;  // b[t] first, in the last of its rows
    double* b = own + (L - 1) * W;
    const double scale = 1 / scratch.c[t];
    for (Index j = 0; j < W; j += kLanes) {
      const Vec ahead = load(beta + j);
      store(b + j, ahead * load(r + t * W + j) * scale);
      store(r + t * W + j, load(a + t * W + j) * ahead);
    }
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

CERTUS_CLONES double summed(const CrfSteps& steps, const CrfFactors& factors, Index T, double* a, double* z, double* r,
                            double* pairs, Index pair_width, const Scratch& scratch) {
  double taken = 0;
  nodes(steps, T, r, scratch.c, &taken);
  const double logs = forward(steps, factors, T, r, a, scratch);
  backward(steps, factors, T, a, z, r, pairs, pair_width, scratch);
  return taken + steps.taken(T) + factors.largest + logs;
}

}  // namespace

double crf_factored_sum(const CrfSteps& steps, const CrfFactors& factors, Index T, double* a, double* z, double* r,
                        double* pairs, Index pair_width) {
  if (T == 0) return 0;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  const Scratch scratch{arena.get<double>(T), arena.get<double>(steps.width), arena.get<double>(steps.width)};
  return summed(steps, factors, T, a, z, r, pairs, pair_width, scratch);
}

}  // namespace certus
