#include "learn/crf/latent.hpp"

#include <algorithm>
#include <cmath>

#include "base/arena.hpp"
#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "learn/crf/log_space.hpp"

namespace certus::learn {
namespace {

// The scores of the states of the gold labels, [T][latent].
double* gather_gold_scores(Index latent, Index T, const Label* gold, const double* scores, Index width, Arena& arena) {
  double* out = arena.get<double>(T * latent);
  for (Index t = 0; t < T; ++t) std::copy_n(scores + t * width + gold[t] * latent, latent, out + t * latent);
  return out;
}

// Turns scores into node weights, and returns what was taken out of all of them, or NaN if they span too much.
double make_nodes(const CrfSteps& steps, Index latent, Index T, double* x) {
  double taken = 0;
  for (Index t = 0; t < T; ++t) {
    const auto [least, most] = std::minmax_element(x + t * latent, x + (t + 1) * latent);
    if (!(*most - *least + steps.range <= kRange)) return std::numeric_limits<double>::quiet_NaN();
    taken += *most;
  }
  for (Index t = 0; t < T; ++t) {
    double* row = x + t * latent;
    const double most = *std::max_element(row, row + latent);
    for (Index k = 0; k < latent; ++k) row[k] = std::exp(row[k] - most);
  }
  return taken;
}

// The states of the gold label at each position. They are too few for vectors, and rows are divided by their sums.
struct GoldSteps {
  const CrfSteps& steps;
  Index latent;
  const Label* gold;
  const double* node;                // [T][latent]
  double *a, *b, *p, *c, *beta_row;  // [T][latent] of the first three, [T], [latent]
  LogProduct total{};                // of c

  double* alpha(Index t) const { return a + t * latent; }
  double* beta(Index) const { return beta_row; }
  double* onward(Index t) const { return b + t * latent; }

  void begin(double* alpha) const { std::fill_n(alpha, latent, 1.0); }
  void finish(double* beta) const { std::fill_n(beta, latent, 1.0); }
  void forward(Index t, const double* from, double* to) const {
    std::fill_n(to, latent, 0.0);
    for (Index i = 0; i < latent; ++i)
      for (Index k = 0; k < latent; ++k) to[k] += from[i] * link(t, i)[k];
  }
  bool settle(Index t, double* alpha) {
    double sum = 0;
    for (Index k = 0; k < latent; ++k) sum += alpha[k] *= node[t * latent + k];
    for (Index k = 0; k < latent; ++k) alpha[k] /= sum;
    total.times(c[t] = sum);
    return true;
  }
  void look_back(Index t, const double* alpha, const double* beta, double* onward) const {
    for (Index k = 0; k < latent; ++k) {
      onward[k] = beta[k] * node[t * latent + k] / c[t];
      p[t * latent + k] = alpha[k] * beta[k];
    }
  }
  void backward(Index t, const double* from, double* to) const {
    for (Index i = 0; i < latent; ++i) {
      double sum = 0;
      for (Index k = 0; k < latent; ++k) sum += link(t, i)[k] * from[k];
      to[i] = sum;
    }
  }

  const double* link(Index t, Index i) const {
    return steps.link(t) + (gold[t - 1] * latent + i) * steps.width + gold[t] * latent;
  }
};

}  // namespace

double crf_gold_sum(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* scores, double* a,
                    double* b, double* p, bool* ranged) {
  if (T == 0) return 0;
  const LocalArena arena;
  double* node = gather_gold_scores(latent, T, gold, scores, steps.width, arena);
  const double taken = make_nodes(steps, latent, T, node);
  *ranged = !std::isnan(taken);
  if (!*ranged) {
    std::fill_n(a, T * latent, 0.0);
    std::fill_n(b, T * latent, 0.0);
    return crf_gold_log_space(steps, latent, T, gold, scores, p, nullptr);
  }
  GoldSteps own{steps, latent, gold, node, a, b, p, arena.get<double>(T), arena.get<double>(latent)};
  run_forward(own, T);
  run_backward(own, T);
  std::fill_n(b, latent, 0.0);  // no pair ends at the first position
  return taken + steps.taken(T) + own.total.log();
}

double crf_gold_log_space(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* scores,
                          double* p, double* pairs) {
  if (T == 0) return 0;
  const Index m = latent, W = steps.width;
  const LocalArena arena;
  const double* node = gather_gold_scores(m, T, gold, scores, W, arena);
  return sum_in_log_space(steps, T, m, node, m, p, pairs, -1, [&](Index t, Index i, Index k) {
    return (gold[t - 1] * m + i) * W + gold[t] * m + k;  // from a state of the gold label before to one of that here
  });
}

void crf_take_gold_pairs(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* a,
                         const double* b, double* pairs) {
  for (Index t = 1; t < T; ++t)
    for (Index i = 0; i < latent; ++i) {
      const Index at = (gold[t - 1] * latent + i) * steps.width + gold[t] * latent;
      const double *link = steps.link(t) + at, x = a[(t - 1) * latent + i];
      double* from = pairs + t * steps.stride + at;
      for (Index k = 0; k < latent; ++k) from[k] -= x * link[k] * b[t * latent + k];
    }
}

void crf_gold_pairs(const double* a, const double* b, const Label* gold, Index tokens, Index latent, Index width,
                    double* pairs) {
  for (Index t = 1; t < tokens; ++t)
    for (Index i = 0; i < latent; ++i) {
      const double x = a[(t - 1) * latent + i];
      double* into = pairs + (gold[t - 1] * latent + i) * width + gold[t] * latent;
      for (Index k = 0; k < latent; ++k) into[k] += x * b[t * latent + k];
    }
}

}  // namespace certus::learn
