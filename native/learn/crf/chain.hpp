// The sum over all label sequences of one sentence, and what it expects of every label and pair of labels.
//
// Forward-backward with scaled probabilities (Rabiner 1989, section V.A): with node[t][j] = exp(score - largest),
// link[i][j] = exp(transition - largest) and c[t] such that a[t] sums to 1,
//   a[t][j] = node[t][j] sum_i a[t-1][i] link[i][j] / c[t],   b[t][j] = node[t][j] beta[t][j] / c[t],
//   beta[t-1][i] = sum_j link[i][j] b[t][j],   beta[T-1] = 1,   log Z = sum_t log c[t] + what was taken out.
// Then P(y_t = j) = a[t][j] beta[t][j] and P(y_t-1 = i, y_t = j) = a[t-1][i] link[i][j] b[t][j].
//
// Every product is above exp(-kRange) if the scores of a position and the transitions together span no more than
// that, so nothing is lost; sentences that span more are done in log space.
#pragma once

#include "learn/crf/layout.hpp"
#include "learn/crf/steps.hpp"

namespace certus::learn {

// The transitions of the present weights, times `scale`.
class CrfLinks {
 public:
  explicit CrfLinks(const CrfLayout& layout)
      : labels(layout.labels()), width(layout.width()), score(labels * width), link(score), across(score) {}

  void set(const double* transitions, double scale = 1.0);
  CrfSteps steps() const { return {labels, width, 0, score.data(), link.data(), across.data(), largest, range}; }

  Index labels, width;
  Doubles score;   // [L][width]
  Doubles link;    // [L][width]: exp(score - largest)
  Doubles across;  // [L][width]: its transpose
  double largest = 0, range = 0;
};

// Steps that have a matrix each, from their scores [T - 1][L][width]. If they span little enough beside the scores r
// [T][width] of the positions, links take the place of the scores, which are lost; else the range says so, and nothing
// has changed.
CrfSteps crf_steps(double* scores, double* r, Index T, Index labels, Index width);

// Fills a [T][width] and b [T][width], turns the scores in r [T][width] into P(y_t = j) - [gold_t = j], and returns
// log Z - score(gold). `gold` may be null: then r becomes the probabilities, and log Z is returned. Where the sentence
// has to be done in log space, a and b are filled with zeros, and `ranged` is set to false: crf_log_space gives the
// pairs.
double crf_sum(const CrfSteps& steps, Index T, const Label* gold, double* a, double* b, double* r, bool* ranged);

// The same in log space; adds P(y_t-1 = i, y_t = j) over t to pairs [L][width] unless it is null, or, where each step
// has a matrix of its own, to pairs [T][L][width].
double crf_log_space(const CrfSteps& steps, Index T, const Label* gold, double* r, double* pairs);

// pairs [T][L][width]: P(y_t-1 = i, y_t = j) of steps that have a matrix each, zeros at the first position.
void crf_step_pairs(const CrfSteps& steps, Index T, const double* a, const double* b, double* pairs);

// pairs[i][j] += sum over 1 <= t < T of a[t-1][i] b[t][j] for i in [first, last), where the rows of b are `stride`
// apart. Times link, the expected pairs.
void crf_pairs(const double* a, const double* b, Index T, Index width, Index stride, Index first, Index last,
               double* pairs);

}  // namespace certus::learn
