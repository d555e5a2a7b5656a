// The sum over the paths of a sentence in log space, for those whose weights span too much to be held as they are.
//
// With x[t] the scores of position t and s[t] those of the step into it,
//   alpha[t][j] = x[t][j] + log sum_i exp(alpha[t-1][i] + s[t][i][j]),   onward[t][j] = x[t][j] + beta[t][j],
//   beta[t-1][i] = log sum_j exp(s[t][i][j] + onward[t][j]),   log Z = log sum_j exp(alpha[T-1][j]).
#pragma once

#include <algorithm>
#include <cmath>

#include "base/arena.hpp"
#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "learn/crf/steps.hpp"

namespace certus::learn {

// log sum over i < count of exp(x(i)).
template <class X>
double log_sum(Index count, const X& x) {
  double most = x(0), sum = 0;
  for (Index i = 1; i < count; ++i) most = std::max(most, x(i));
  for (Index i = 0; i < count; ++i) sum += std::exp(x(i) - most);
  return most + std::log(sum);
}

// at(t, i, j) says where in its [L][width] the matrix of the step into position t has the pair of states i and j.
template <class At>
class LogSpaceSteps : public StepsOver<LogSpaceSteps<At>, PlainLogs> {
 public:
  LogSpaceSteps(const CrfSteps& steps, Index T, Index states, const double* scores, Index width, const At& at,
                Arena& arena)
      : steps_(steps),
        states_(states),
        width_(width),
        scores_(scores),
        at_(at),
        rows_(arena.get<double>((T + 2) * states)) {}

  Index width() const { return states_; }
  double* alpha(Index t) const { return rows_ + (t + 2) * states_; }
  double* beta(Index) const { return rows_; }
  double* onward(Index) const { return rows_ + states_; }
  double log_partition(Index T) const {
    return log_sum(states_, [&](Index j) { return alpha(T - 1)[j]; });
  }

  void forward(Index t, const double* from, double* to) const {
    for (Index j = 0; j < states_; ++j) to[j] = log_sum(states_, [&](Index i) { return from[i] + score(t, i, j); });
  }
  void weigh(Index t, double* x) const {
    for (Index j = 0; j < states_; ++j) x[j] += scores_[t * width_ + j];
  }
  void collect(Index t, const double* alpha, const double* beta) const {
    for (Index j = 0; p && j < states_; ++j) p[t * width_ + j] = std::exp(alpha[j] + beta[j] - log_z);
  }
  void backward(Index t, const double* from, double* to) const {
    for (Index i = 0; pairs && i < states_; ++i)
      for (Index j = 0; j < states_; ++j)
        pairs[t * steps_.stride + at_(t, i, j)] += times * std::exp(alpha(t - 1)[i] + score(t, i, j) + from[j] - log_z);
    for (Index i = 0; i < states_; ++i) to[i] = log_sum(states_, [&](Index j) { return score(t, i, j) + from[j]; });
  }

  // To be set before going backward. p may take the place of the scores.
  double log_z = 0;
  double* p = nullptr;      // [T][width]: becomes the probabilities of states, unless null
  double* pairs = nullptr;  // where the probabilities of pairs are added, `times` each, unless null
  double times = 1;

 private:
  double score(Index t, Index i, Index j) const { return steps_.score(t)[at_(t, i, j)]; }

  const CrfSteps& steps_;
  Index states_, width_;
  const double* scores_;  // [T][width]
  const At& at_;
  double* rows_;  // [2 + T][states]: beta, onward, alpha
};

// Returns log Z; p and pairs as above.
template <class At>
double sum_in_log_space(const CrfSteps& crf, Index T, Index states, const double* scores, Index width, double* p,
                        double* pairs, double times, const At& at) {
  const LocalArena arena;
  LogSpaceSteps<At> steps(crf, T, states, scores, width, at, arena);
  run_forward(steps, T);
  steps.log_z = steps.log_partition(T), steps.p = p, steps.pairs = pairs, steps.times = times;
  if (p || pairs) run_backward(steps, T);
  return steps.log_z;
}

}  // namespace certus::learn
