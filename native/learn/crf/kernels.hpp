// Rows of states in whole vectors: what the sums over paths of CRFs are made of.
#pragma once

#include <algorithm>

#include "base/exponential.hpp"
#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "learn/crf/steps.hpp"

namespace certus::learn {
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

// out[i] = sum_j rows[i][j] x[j].
CERTUS_INLINE void products(const double* rows, const double* x, Index count, Index width, double* out) {
  for (Index i = 0; i < count; ++i) {
    Vec sum = {};
    for (Index j = 0; j < width; j += kLanes) sum += load(rows + i * width + j) * load(x + j);
    out[i] = add_lanes(sum);
  }
}

struct Span {
  double least, most;
};

// Finds the least and the largest of the L scores of a row of whole vectors, which past the labels then repeats the
// first.
CERTUS_INLINE Span find_span(double* row, Index labels, Index width) {
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

// Turns scores into node weights, if they span little enough: tells whether, and adds up what was taken out. Otherwise
// the scores stay as they are. `most` [T] is scratch.
CERTUS_INLINE bool make_nodes(const CrfSteps& steps, Index T, double* r, double* most, double* taken) {
  const Index W = steps.width;
  for (Index t = 0; t < T; ++t) {
    const Span s = find_span(r + t * W, steps.labels, W);
    if (!(s.most - s.least + steps.range <= kRange)) return false;
    most[t] = s.most;
  }
  for (Index t = 0; t < T; ++t) {
    exp_row(r + t * W, most[t], steps.labels, W);
    *taken += most[t];
  }
  return true;
}

// now[j] = now[j] node[j] / c, where c, which is returned, makes their sum 1.
CERTUS_INLINE double weigh_and_scale(double* now, const double* node, Index width) {
  Vec sum = {};
  for (Index j = 0; j < width; j += kLanes) {
    const Vec x = load(now + j) * load(node + j);
    store(now + j, x);
    sum += x;
  }
  const double c = add_lanes(sum), scale = 1 / c;
  for (Index j = 0; j < width; j += kLanes) store(now + j, load(now + j) * scale);
  return c;
}

// b[j] = beta[j] node[j] scale, and the node becomes the probability, a[j] beta[j].
CERTUS_INLINE void look_back(const double* beta, const double* a, double scale, Index width, double* b, double* node) {
  for (Index j = 0; j < width; j += kLanes) {
    const Vec ahead = load(beta + j);
    store(b + j, ahead * load(node + j) * scale);
    store(node + j, load(a + j) * ahead);
  }
}

// The rows of a sum, of which alpha is divided by its own sum c[t] at every position: what steps of whole vectors have
// in common. The nodes r [T][width] become probabilities on the way back.
class ScaledRows {
 public:
  ScaledRows(Index width, double* a, double* r, double* c, double* beta)
      : width_(width), a_(a), r_(r), c_(c), beta_(beta) {}

  CERTUS_INLINE_MEMBER double* alpha(Index t) const { return a_ + t * width_; }
  CERTUS_INLINE_MEMBER double* beta(Index) const { return beta_; }

  CERTUS_INLINE_MEMBER void begin(double* alpha) const { std::fill_n(alpha, width_, 1.0); }
  CERTUS_INLINE_MEMBER void finish(double* beta) const { std::fill_n(beta, width_, 1.0); }
  CERTUS_INLINE_MEMBER bool settle(Index t, double* alpha) {
    total.times(c_[t] = weigh_and_scale(alpha, r_ + t * width_, width_));
    return true;
  }
  CERTUS_INLINE_MEMBER void look_back(Index t, const double* alpha, const double* beta, double* onward) const {
    learn::look_back(beta, alpha, 1 / c_[t], width_, onward, r_ + t * width_);
  }

  LogProduct total;  // of c

 private:
  Index width_;
  double *a_, *r_, *c_, *beta_;  // [T][width], [T][width], [T], [width]
};

}  // namespace
}  // namespace certus::learn
