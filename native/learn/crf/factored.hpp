// The sum over the paths of states of a sentence whose every step is the same transitions times a factor for each two
// labels: where features of pairs are of labels, which all their states share.
//
// With X[t][y][j] = exp(score of the pair of label y and the label of state j - the largest of the step),
// forward-backward is that of chain.hpp with link[i][j] X[t][y(i)][j] in place of link[i][j]. A matrix of states is
// never made for a step:
//   a[t][j] = node[t][j] sum over labels y of X[t][y][j] (sum over the states i of y of a[t-1][i] link[i][j]) / c[t],
// and what the transitions expect is sum_t a[t-1][i] z[t][y(i)][j] times link[i][j], where z[t][y][j] = X[t][y][j]
// b[t][j].
#pragma once

#include "learn/crf/chain.hpp"

namespace certus::learn {

struct CrfFactors {
  Index labels, latent;
  const double* factor;  // [T - 1][labels][width]: X, of the first step
  double largest;        // what was taken out of the scores of all steps
  double range;          // the largest less the least score of a step, at most
};

// Fills a [T][width] and z [T][labels][width], turns the scores in r [T][width] into the probabilities of states,
// writes those of two labels in a row to pairs [T][labels][pair_width], zeros at the first position, and log Z. Whether
// that was possible: not where scores, transitions and factors together span more than kRange; then nothing is written.
bool crf_factored_sum(const CrfSteps& transitions, const CrfFactors& factors, Index T, double* a, double* z, double* r,
                      double* pairs, Index pair_width, double* log_z);

}  // namespace certus::learn
