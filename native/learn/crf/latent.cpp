#include "learn/crf/latent.hpp"

#include <algorithm>
#include <cmath>

#include "base/arena.hpp"

namespace certus {
namespace {

// log sum_k exp(x[k]).
double log_sum(const double* x, Index count) {
  const double most = *std::max_element(x, x + count);
  double sum = 0;
  for (Index k = 0; k < count; ++k) sum += std::exp(x[k] - most);
  return most + std::log(sum);
}

// The scores of the states of the gold labels, [T][latent].
double* gold_scores(Index latent, Index T, const Label* gold, const double* scores, Index width, Arena& arena) {
  double* out = arena.get<double>(T * latent);
  for (Index t = 0; t < T; ++t) std::copy_n(scores + t * width + gold[t] * latent, latent, out + t * latent);
  return out;
}

// Turns scores into node weights, and returns what was taken out of all of them, or NaN if they span too much.
double nodes(const CrfSteps& steps, Index latent, Index T, double* x) {
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

double forward(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* node, double* a,
               double* c) {
  double logs = 0, factor = 1;
  for (Index t = 0; t < T; ++t) {
    double *now = a + t * latent, sum = 0;
    if (t) {
      std::fill_n(now, latent, 0.0);
      for (Index i = 0; i < latent; ++i) {
        const double x = (now - latent)[i];
        const double* link = steps.link(t) + (gold[t - 1] * latent + i) * steps.width + gold[t] * latent;
        for (Index k = 0; k < latent; ++k) now[k] += x * link[k];
      }
    } else {
      std::fill_n(now, latent, 1.0);
    }
    for (Index k = 0; k < latent; ++k) sum += now[k] *= node[t * latent + k];
    for (Index k = 0; k < latent; ++k) now[k] /= sum;
    c[t] = sum;
    factor *= sum;
    if (factor < 1e-30 || factor > 1e30) logs += std::log(factor), factor = 1;
  }
  return logs + std::log(factor);
}

void backward(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* node, const double* a,
              const double* c, double* b, double* p, double* beta) {
  std::fill_n(beta, latent, 1.0);
  for (Index t = T - 1; t >= 0; --t) {
    for (Index k = 0; k < latent; ++k) {
      b[t * latent + k] = beta[k] * node[t * latent + k] / c[t];
      p[t * latent + k] = a[t * latent + k] * beta[k];
    }
    if (t == 0) break;
    for (Index i = 0; i < latent; ++i) {
      const double* link = steps.link(t) + (gold[t - 1] * latent + i) * steps.width + gold[t] * latent;
      double sum = 0;
      for (Index k = 0; k < latent; ++k) sum += link[k] * b[t * latent + k];
      beta[i] = sum;
    }
  }
  std::fill_n(b, latent, 0.0);  // no pair ends at the first position
}

}  // namespace

double crf_gold_sum(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* scores, double* a,
                    double* b, double* p, bool* ranged) {
  if (T == 0) return 0;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  double* node = gold_scores(latent, T, gold, scores, steps.width, arena);
  const double taken = nodes(steps, latent, T, node);
  *ranged = !std::isnan(taken);
  if (!*ranged) {
    std::fill_n(a, T * latent, 0.0);
    std::fill_n(b, T * latent, 0.0);
    return crf_gold_log_space(steps, latent, T, gold, scores, p, nullptr);
  }
  double* c = arena.get<double>(T);
  const double logs = forward(steps, latent, T, gold, node, a, c);
  backward(steps, latent, T, gold, node, a, c, b, p, arena.get<double>(latent));
  return taken + steps.taken(T) + logs;
}

double crf_gold_log_space(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* scores,
                          double* p, double* pairs) {
  if (T == 0) return 0;
  const Index m = latent, W = steps.width;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  const double* node = gold_scores(m, T, gold, scores, W, arena);
  double* alpha = arena.get<double>(T * m);
  double* beta = arena.get<double>(T * m, 0.0);
  double* terms = arena.get<double>(m);
  const auto step = [&](Index t, Index i, Index k) {  // from state i of the gold label at t - 1 to state k of that at t
    return steps.score(t)[(gold[t - 1] * m + i) * W + gold[t] * m + k];
  };
  std::copy_n(node, m, alpha);
  for (Index t = 1; t < T; ++t)
    for (Index k = 0; k < m; ++k) {
      for (Index i = 0; i < m; ++i) terms[i] = alpha[(t - 1) * m + i] + step(t, i, k);
      alpha[t * m + k] = node[t * m + k] + log_sum(terms, m);
    }
  for (Index t = T - 2; t >= 0; --t)
    for (Index i = 0; i < m; ++i) {
      for (Index k = 0; k < m; ++k) terms[k] = step(t + 1, i, k) + node[(t + 1) * m + k] + beta[(t + 1) * m + k];
      beta[t * m + i] = log_sum(terms, m);
    }
  const double total = log_sum(alpha + (T - 1) * m, m);
  for (Index n = 0; p && n < T * m; ++n) p[n] = std::exp(alpha[n] + beta[n] - total);
  for (Index t = 1; pairs && t < T; ++t)
    for (Index i = 0; i < m; ++i)
      for (Index k = 0; k < m; ++k)
        pairs[t * steps.stride + (gold[t - 1] * m + i) * W + gold[t] * m + k] -=
            std::exp(alpha[(t - 1) * m + i] + step(t, i, k) + node[t * m + k] + beta[t * m + k] - total);
  return total;
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

}  // namespace certus
