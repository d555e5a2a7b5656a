// Learners that decode each sentence exactly, under the weights so far, and learn from the mistakes.
#pragma once

#include "learn/crf/online.hpp"

namespace certus::learn {

struct MistakeOptions {
  double epsilon = 0;  // stop where the loss of a pass, by sentence, is below this
  std::uint64_t seed = 0;
};

// The averaged perceptron (Collins 2002). The loss is the share of wrong labels, summed over sentences.
std::unique_ptr<CrfPasses> crf_perceptron(const CrfData& data, const MistakeOptions& options, double* w);

// Passive-aggressive (Crammer et al. 2006, section 8): the smallest change that lets the gold labels win by a margin,
// 1 or the square root of the number of wrong labels. Type 0 has no slack, 1 limits the step to c, 2 damps it by
// 1 / (2 c). The loss is the sum of the margins missed.
struct PassiveAggressiveOptions : MistakeOptions {
  int type = 1;
  double c = 1;
  bool error_sensitive = true, averaging = true;
};
std::unique_ptr<CrfPasses> crf_passive_aggressive(const CrfData& data, const PassiveAggressiveOptions& options,
                                                  double* w);

// Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009) with a diagonal covariance: weights seen often
// change less. The margin is the number of wrong labels.
struct ArowOptions : MistakeOptions {
  double variance = 1, gamma = 1;
};
std::unique_ptr<CrfPasses> crf_arow(const CrfData& data, const ArowOptions& options, double* w);

// The best label sequence of a sentence given its scores [T][width]: the first of the best at every step.
// `transitions` is [L][width]. Returns its score.
double crf_best_path(const double* scores, const double* transitions, Index T, Index labels, Index width, Label* path);

}  // namespace certus::learn
