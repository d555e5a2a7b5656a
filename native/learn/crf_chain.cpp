#include "learn/crf_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arena.hpp"

namespace certus {
namespace {

template <int N>
CERTUS_INLINE void product_tile(const double* x, const double* rows, Index count, Index stride, double* out) {
  Vec even[N] = {}, odd[N] = {};
  Index i = 0;
  for (; i + 2 <= count; i += 2)  // two sums, so that one addition need not wait for the other
    for (int n = 0; n < N; ++n) {
      even[n] += x[i] * load(rows + i * stride + n * kLanes);
      odd[n] += x[i + 1] * load(rows + (i + 1) * stride + n * kLanes);
    }
  for (int n = 0; n < N; ++n) {
    if (i < count) even[n] += x[i] * load(rows + i * stride + n * kLanes);
    store(out + n * kLanes, even[n] + odd[n]);
  }
}

// out[j] = sum_i x[i] rows[i][j].
CERTUS_INLINE void product(const double* x, const double* rows, Index count, Index width, double* out) {
  Index j = 0;
  for (; j + 4 * kLanes <= width; j += 4 * kLanes) product_tile<4>(x, rows + j, count, width, out + j);
  const Index left = (width - j) / kLanes;
  if (left == 3) product_tile<3>(x, rows + j, count, width, out + j);
  else if (left == 2) product_tile<2>(x, rows + j, count, width, out + j);
  else if (left == 1) product_tile<1>(x, rows + j, count, width, out + j);
}

struct Span {
  double least, most;
};

// Of the L scores of a row of whole vectors; past the labels it then repeats the first.
CERTUS_INLINE Span span(double* row, Index labels, Index width) {
  for (Index j = labels; j < width; ++j) row[j] = row[0];
  Vec most = load(row), least = most;
  for (Index j = kLanes; j < width; j += kLanes) {
    const Vec x = load(row + j);
    most = x > most ? x : most;
    least = x < least ? x : least;
  }
  return {-fold_largest<double>(-least), fold_largest<double>(most)};
}

CERTUS_INLINE void exp_row(double* row, double most, Index labels, Index width) {
  for (Index j = 0; j < width; j += kLanes) store(row + j, exp_vector(load(row + j) - most));
  for (Index j = labels; j < width; ++j) row[j] = 0;
}

// Turns scores into node weights; tells whether they span little enough, and if so adds up what was taken out. If not,
// the scores are as they were. `most` [T] is scratch.
CERTUS_INLINE bool nodes(const CrfLinks& links, Index T, double* r, double* most, double* taken) {
  const Index W = links.width;
  for (Index t = 0; t < T; ++t) {
    const Span s = span(r + t * W, links.labels, W);
    if (!(s.most - s.least + links.range <= kRange)) return false;
    most[t] = s.most;
  }
  for (Index t = 0; t < T; ++t) {
    exp_row(r + t * W, most[t], links.labels, W);
    *taken += most[t];
  }
  return true;
}

// a[t] and c[t], from nodes in r; returns sum_t log c[t].
CERTUS_INLINE double forward(const CrfLinks& links, Index T, const double* r, double* a, double* c) {
  const Index W = links.width;
  double logs = 0, factor = 1;
  for (Index t = 0; t < T; ++t) {
    double* now = a + t * W;
    const double* node = r + t * W;
    if (t) product(now - W, links.link.data(), links.labels, W, now);
    Vec sum = {};
    for (Index j = 0; j < W; j += kLanes) {
      const Vec x = t ? load(now + j) * load(node + j) : load(node + j);
      store(now + j, x);
      sum += x;
    }
    c[t] = add_lanes(sum);
    const double scale = 1 / c[t];
    for (Index j = 0; j < W; j += kLanes) store(now + j, load(now + j) * scale);
    factor *= c[t];
    if (factor < 1e-30 || factor > 1e30) logs += std::log(factor), factor = 1;
  }
  return logs + std::log(factor);
}

// b[t], and the probabilities in r, from the last position on.
CERTUS_INLINE void backward(const CrfLinks& links, Index T, const double* a, const double* c, double* b, double* r,
                            double* beta) {
  const Index W = links.width;
  std::fill(beta, beta + W, 1.0);
  for (Index t = T - 1; t >= 0; --t) {
    const double scale = 1 / c[t];
    for (Index j = 0; j < W; j += kLanes) {
      const Vec ahead = load(beta + j), node = load(r + t * W + j);
      store(b + t * W + j, ahead * node * scale);
      store(r + t * W + j, load(a + t * W + j) * ahead);
    }
    if (t) product(b + t * W, links.across.data(), links.labels, W, beta);
  }
  std::fill(b, b + W, 0.0);
}

double path_score(const CrfLinks& links, Index T, const Label* path, const double* scores) {
  double sum = scores[path[0]];
  for (Index t = 1; t < T; ++t)
    sum += links.score[path[t - 1] * links.width + path[t]] + scores[t * links.width + path[t]];
  return sum;
}

CERTUS_CLONES bool scaled(const CrfLinks& links, Index T, double* a, double* b, double* r, double* c, double* beta,
                          double* log_z) {
  double taken = 0;
  if (!nodes(links, T, r, c, &taken)) return false;
  *log_z = taken + static_cast<double>(T - 1) * links.largest + forward(links, T, r, a, c);
  backward(links, T, a, c, b, r, beta);
  return true;
}

CERTUS_CLONES void exponentiate(Doubles& x, double largest) {
  for (std::size_t n = 0; n < x.size(); n += kLanes) store(x.data() + n, exp_vector(load(x.data() + n) - largest));
}

CERTUS_CLONES void scale_rows(const double* x, double factor, Doubles& out) {
  for (std::size_t n = 0; n < out.size(); n += kLanes) store(out.data() + n, factor * load(x + n));
}

CERTUS_CLONES Span span_of_row(double* row, Index labels, Index width) { return span(row, labels, width); }

// In blocks of a cache line by a cache line.
void transpose(const Doubles& x, Index labels, Index width, Doubles& out) {
  for (Index i = 0; i < labels; i += kLanes)
    for (Index j = 0; j < labels; j += kLanes)
      for (Index b = j; b < std::min(labels, j + kLanes); ++b)
        for (Index a = i; a < std::min(labels, i + kLanes); ++a) out[b * width + a] = x[a * width + b];
}

void take_gold(Index T, const Label* gold, Index width, double* r) {
  for (Index t = 0; t < T; ++t) r[t * width + gold[t]] -= 1;
}

// log sum_i exp(x(i)).
template <class X>
double log_sum(Index count, const X& x) {
  double most = x(0), sum = 0;
  for (Index i = 1; i < count; ++i) most = std::max(most, x(i));
  for (Index i = 0; i < count; ++i) sum += std::exp(x(i) - most);
  return most + std::log(sum);
}

}  // namespace

void CrfLinks::set(const double* transitions, double scale) {
  scale_rows(transitions, scale, score);
  double least = std::numeric_limits<double>::infinity();
  largest = -least;
  for (Index i = 0; i < labels; ++i) {
    const Span s = span_of_row(score.data() + i * width, labels, width);
    largest = std::max(largest, s.most);
    least = std::min(least, s.least);
  }
  range = largest - least;
  if (!(range <= kRange)) return;  // every sentence goes through log space
  link = score;
  exponentiate(link, largest);
  for (Index i = 0; i < labels; ++i) std::fill_n(link.data() + i * width + labels, width - labels, 0.0);
  transpose(link, labels, width, across);
}

double crf_sum(const CrfLinks& links, Index T, const Label* gold, double* a, double* b, double* r, bool* ranged) {
  if (T == 0) return 0;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  double log_z = 0;
  const double score = gold ? path_score(links, T, gold, r) : 0;
  *ranged = scaled(links, T, a, b, r, arena.get<double>(T), arena.get<double>(links.width), &log_z);
  if (!*ranged) {
    std::fill(a, a + T * links.width, 0.0);
    std::fill(b, b + T * links.width, 0.0);
    return crf_log_space(links, T, gold, r, nullptr);
  }
  if (gold) take_gold(T, gold, links.width, r);
  return log_z - score;
}

double crf_log_space(const CrfLinks& links, Index T, const Label* gold, double* r, double* pairs) {
  if (T == 0) return 0;
  const Index L = links.labels, W = links.width;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  double* alpha = arena.get<double>(T * W);
  double* beta = arena.get<double>(T * W, 0.0);
  const double* step = links.score.data();
  const double score = gold ? path_score(links, T, gold, r) : 0;
  std::copy_n(r, L, alpha);
  for (Index t = 1; t < T; ++t)
    for (Index j = 0; j < L; ++j)
      alpha[t * W + j] =
          r[t * W + j] + log_sum(L, [&](Index i) { return alpha[(t - 1) * W + i] + step[i * W + j]; });
  for (Index t = T - 2; t >= 0; --t)
    for (Index i = 0; i < L; ++i)
      beta[t * W + i] = log_sum(
          L, [&](Index j) { return step[i * W + j] + r[(t + 1) * W + j] + beta[(t + 1) * W + j]; });
  const double log_z = log_sum(L, [&](Index j) { return alpha[(T - 1) * W + j]; });
  for (Index t = 1; pairs && t < T; ++t)
    for (Index i = 0; i < L; ++i)
      for (Index j = 0; j < L; ++j)
        pairs[i * W + j] += std::exp(alpha[(t - 1) * W + i] + step[i * W + j] + r[t * W + j] + beta[t * W + j] - log_z);
  for (Index t = 0; t < T; ++t) {
    for (Index j = 0; j < L; ++j) r[t * W + j] = std::exp(alpha[t * W + j] + beta[t * W + j] - log_z);
    std::fill(r + t * W + L, r + (t + 1) * W, 0.0);
  }
  if (gold) take_gold(T, gold, W, r);
  return log_z - score;
}

namespace {

// R rows of sums in N vectors each stay in registers while the positions go by.
template <int R, int N>
CERTUS_INLINE void pairs_tile(const double* a, const double* b, Index T, Index width, double* pairs) {
  Vec sum[R][N];
  for (int r = 0; r < R; ++r)
    for (int n = 0; n < N; ++n) sum[r][n] = load(pairs + r * width + n * kLanes);
  for (Index t = 1; t < T; ++t) {
    const double *before = a + (t - 1) * width, *now = b + t * width;
    for (int n = 0; n < N; ++n) {
      const Vec x = load(now + n * kLanes);
      for (int r = 0; r < R; ++r) sum[r][n] += before[r] * x;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int n = 0; n < N; ++n) store(pairs + r * width + n * kLanes, sum[r][n]);
}

template <int R>
CERTUS_INLINE void pairs_rows(const double* a, const double* b, Index T, Index width, double* pairs) {
  Index j = 0;
  for (; j + 3 * kLanes <= width; j += 3 * kLanes) pairs_tile<R, 3>(a, b + j, T, width, pairs + j);
  for (; j < width; j += kLanes) pairs_tile<R, 1>(a, b + j, T, width, pairs + j);
}

}  // namespace

CERTUS_CLONES void crf_pairs(const double* a, const double* b, Index T, Index width, Index first, Index last,
                             double* pairs) {
  Index i = first;
  for (; i + 4 <= last; i += 4) pairs_rows<4>(a + i, b, T, width, pairs + i * width);
  for (; i < last; ++i) pairs_rows<1>(a + i, b, T, width, pairs + i * width);
}

}  // namespace certus
