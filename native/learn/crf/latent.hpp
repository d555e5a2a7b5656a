// The sum over the latent paths of given labels: the numerator of a latent-dynamic CRF (Sun & Tsujii 2009, equation 2).
//
// Each label y has `latent` states of its own, y latent .. y latent + latent - 1, and the CRF is one over states. The
// sum is forward-backward as in chain.hpp, over the states of the gold label at each position alone; with one state
// per label it is the score of a path.
#pragma once

#include "learn/crf/chain.hpp"

namespace certus::learn {

// From the scores [T][width] of one sentence, fills a [T][latent], b [T][latent], and p [T][latent] with the
// probabilities of the states given the labels; returns the log of the sum. Where it has to be done in log space, a and
// b are filled with zeros, and `ranged` is set to false: crf_gold_log_space gives the pairs.
double crf_gold_sum(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* scores, double* a,
                    double* b, double* p, bool* ranged);

// The same in log space; takes P(h_t-1 = i, h_t = j | gold) over t away from pairs [L][width] unless it is null, or,
// where each step has a matrix of its own, from pairs [T][L][width].
double crf_gold_log_space(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* scores,
                          double* p, double* pairs);

// Takes P(h_t-1 = i, h_t = j | gold) away from pairs [T][L][width], of steps that have a matrix each.
void crf_take_gold_pairs(const CrfSteps& steps, Index latent, Index T, const Label* gold, const double* a,
                         const double* b, double* pairs);

// pairs[i][j] += sum over 1 <= t < tokens of a[t-1][i] b[t][j]. Times link, the expected pairs.
void crf_gold_pairs(const double* a, const double* b, const Label* gold, Index tokens, Index latent, Index width,
                    double* pairs);

}  // namespace certus::learn
