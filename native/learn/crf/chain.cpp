#include "learn/crf/chain.hpp"

#include <algorithm>

#include "base/arena.hpp"
#include "learn/crf/kernels.hpp"
#include "learn/crf/log_space.hpp"

namespace certus::learn {
namespace {

// Steps that are a matrix of links each, or all the same.
class MatrixSteps : public ScaledRows {
 public:
  MatrixSteps(const CrfSteps& steps, double* a, double* b, double* r, double* c, double* beta)
      : ScaledRows(steps.width, a, r, c, beta), steps_(steps), b_(b) {}

  CERTUS_INLINE_MEMBER double* onward(Index t) const { return b_ + t * steps_.width; }
  CERTUS_INLINE_MEMBER void forward(Index t, const double* from, double* to) const {
    product(from, steps_.link(t), steps_.labels, steps_.width, to);
  }
  CERTUS_INLINE_MEMBER void backward(Index t, const double* from, double* to) const {
    if (steps_.acrosses) product(from, steps_.acrosses, steps_.labels, steps_.width, to);
    else products(steps_.link(t), from, steps_.labels, steps_.width, to);
  }

 private:
  const CrfSteps& steps_;
  double* b_;
};

double path_score(const CrfSteps& steps, Index T, const Label* path, const double* scores) {
  double sum = scores[path[0]];
  for (Index t = 1; t < T; ++t)
    sum += steps.score(t)[path[t - 1] * steps.width + path[t]] + scores[t * steps.width + path[t]];
  return sum;
}

CERTUS_CLONES bool sum_scaled(const CrfSteps& steps, Index T, double* a, double* b, double* r, double* c, double* beta,
                              double* log_z) {
  double taken = 0;
  if (!make_nodes(steps, T, r, c, &taken)) return false;
  MatrixSteps rows(steps, a, b, r, c, beta);
  run_forward(rows, T);
  *log_z = taken + steps.taken(T) + rows.total.log();
  run_backward(rows, T);
  std::fill_n(b, steps.width, 0.0);  // no pair ends at the first position
  return true;
}

// x[n] = exp(x[n] - most); whole vectors.
CERTUS_CLONES void exponentiate(double* x, double most, Index count) {
  for (Index n = 0; n < count; n += kLanes) store(x + n, exp_vector(load(x + n) - most));
}

CERTUS_CLONES void scale_rows(const double* x, double factor, Doubles& out) {
  for (std::size_t n = 0; n < out.size(); n += kLanes) store(out.data() + n, factor * load(x + n));
}

// Finds the least and the largest of `count` rows of scores; past the labels each row then repeats its first.
CERTUS_CLONES Span find_span_of_rows(double* rows, Index count, Index labels, Index width) {
  Span all = find_span(rows, labels, width);
  for (Index i = 1; i < count; ++i) {
    const Span s = find_span(rows + i * width, labels, width);
    all = {std::min(all.least, s.least), std::max(all.most, s.most)};
  }
  return all;
}

// Transposes a matrix in blocks of a cache line by a cache line.
void transpose(const Doubles& x, Index labels, Index width, Doubles& out) {
  for (Index i = 0; i < labels; i += kLanes)
    for (Index j = 0; j < labels; j += kLanes)
      for (Index b = j; b < std::min(labels, j + kLanes); ++b)
        for (Index a = i; a < std::min(labels, i + kLanes); ++a) out[b * width + a] = x[a * width + b];
}

void take_gold(Index T, const Label* gold, Index width, double* r) {
  for (Index t = 0; t < T; ++t) r[t * width + gold[t]] -= 1;
}

}  // namespace

void CrfLinks::set(const double* transitions, double scale) {
  scale_rows(transitions, scale, score);
  const Span s = find_span_of_rows(score.data(), labels, labels, width);
  largest = s.most;
  range = s.most - s.least;
  if (!(range <= kRange)) return;  // every sentence goes through log space
  link = score;
  exponentiate(link.data(), largest, labels * width);
  for (Index i = 0; i < labels; ++i) std::fill_n(link.data() + i * width + labels, width - labels, 0.0);
  transpose(link, labels, width, across);
}

CrfSteps crf_steps(double* scores, double* r, Index T, Index labels, Index width) {
  const LocalArena arena;
  const Index size = labels * width;
  double *most = arena.get<double>(T), widest = 0, range = 0, largest = 0;
  for (Index t = 0; t < T; ++t) {
    const Span s = find_span_of_rows(r + t * width, 1, labels, width);
    widest = std::max(widest, s.most - s.least);
  }
  for (Index t = 1; t < T; ++t) {
    const Span s = find_span_of_rows(scores + (t - 1) * size, labels, labels, width);
    most[t] = s.most;
    largest += s.most;
    range = std::max(range, s.most - s.least);
  }
  const CrfSteps steps{labels, width, size, scores, scores, nullptr, largest, range};
  if (!(widest + range <= kRange)) return {labels, width, size, scores, nullptr, nullptr, largest, 2 * kRange};
  for (Index t = 1; t < T; ++t) exponentiate(scores + (t - 1) * size, most[t], size);
  return steps;
}

CERTUS_CLONES void crf_step_pairs(const CrfSteps& steps, Index T, const double* a, const double* b, double* pairs) {
  const Index L = steps.labels, W = steps.width;
  std::fill_n(pairs, L * W, 0.0);
  for (Index t = 1; t < T; ++t) {
    const double *link = steps.link(t), *before = a + (t - 1) * W, *now = b + t * W;
    double* into = pairs + t * L * W;
    for (Index i = 0; i < L; ++i)
      for (Index j = 0; j < W; j += kLanes) store(into + i * W + j, before[i] * load(link + i * W + j) * load(now + j));
  }
}

double crf_sum(const CrfSteps& steps, Index T, const Label* gold, double* a, double* b, double* r, bool* ranged) {
  if (T == 0) return 0;
  const LocalArena arena;
  double log_z = 0;
  const double score = gold ? path_score(steps, T, gold, r) : 0;
  *ranged = sum_scaled(steps, T, a, b, r, arena.get<double>(T), arena.get<double>(steps.width, 0.0), &log_z);
  if (!*ranged) {
    std::fill(a, a + T * steps.width, 0.0);
    std::fill(b, b + T * steps.width, 0.0);
    return crf_log_space(steps, T, gold, r, nullptr);
  }
  if (gold) take_gold(T, gold, steps.width, r);
  return log_z - score;
}

double crf_log_space(const CrfSteps& steps, Index T, const Label* gold, double* r, double* pairs) {
  if (T == 0) return 0;
  const Index L = steps.labels, W = steps.width;
  const double score = gold ? path_score(steps, T, gold, r) : 0;
  const double log_z =
      sum_in_log_space(steps, T, L, r, W, r, pairs, 1, [&](Index, Index i, Index j) { return i * W + j; });
  for (Index t = 0; t < T; ++t) std::fill(r + t * W + L, r + (t + 1) * W, 0.0);
  if (gold) take_gold(T, gold, W, r);
  return log_z - score;
}

namespace {

// R rows of sums in N vectors each stay in registers while the positions go by.
template <int R, int N>
CERTUS_INLINE void pairs_tile(const double* a, const double* b, Index T, Index width, Index stride, double* pairs) {
  Vec sum[R][N];
  for (int r = 0; r < R; ++r)
    for (int n = 0; n < N; ++n) sum[r][n] = load(pairs + r * width + n * kLanes);
  for (Index t = 1; t < T; ++t) {
    const double *before = a + (t - 1) * width, *now = b + t * stride;
    for (int n = 0; n < N; ++n) {
      const Vec x = load(now + n * kLanes);
      for (int r = 0; r < R; ++r) sum[r][n] += before[r] * x;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int n = 0; n < N; ++n) store(pairs + r * width + n * kLanes, sum[r][n]);
}

template <int R>
CERTUS_INLINE void pairs_rows(const double* a, const double* b, Index T, Index width, Index stride, double* pairs) {
  Index j = 0;
  for (; j + 3 * kLanes <= width; j += 3 * kLanes) pairs_tile<R, 3>(a, b + j, T, width, stride, pairs + j);
  for (; j < width; j += kLanes) pairs_tile<R, 1>(a, b + j, T, width, stride, pairs + j);
}

}  // namespace

CERTUS_CLONES void crf_pairs(const double* a, const double* b, Index T, Index width, Index stride, Index first,
                             Index last, double* pairs) {
  Index i = first;
  for (; i + 4 <= last; i += 4) pairs_rows<4>(a + i, b, T, width, stride, pairs + i * width);
  for (; i < last; ++i) pairs_rows<1>(a + i, b, T, width, stride, pairs + i * width);
}

}  // namespace certus::learn
