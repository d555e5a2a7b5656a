// The most probable labels of a sentence whose labels have latent states.
//
//   ldi   latent-dynamic inference (Sun & Tsujii 2009, figure 3): the best latent paths in order, the exact probability
//         of the labels of each, until nothing that was not seen can be more probable;
//   bhp   the labels of the best latent path (equation 10);
//   bmp   the most probable label of each position by itself (equation 11).
#pragma once

#include <vector>

#include "base/limits.hpp"
#include "latent/gain.hpp"
#include "latent/model.hpp"

namespace certus::latent {

enum class Inference { ldi = 0, bhp = 1, bmp = 2 };

// What is asked of a sentence.
struct LatentRequest {
  Inference inference = Inference::ldi;
  Index k = 1;          // label sequences, of ldi
  Index steps = 0;      // the most latent paths to look at; 0: no limit
  bool bounded = true;  // stop by the bound on single sequences (label_search.hpp) as well as by the mass that remains
  double share = 1;     // of the mass that remains: what a single sequence is believed to have at most
  bool all = false;     // go on to the limit of steps, and return every sequence that was found
  const Gain* gain = nullptr;     // rerank them by what they gain on average
  double seconds = kNoTimeLimit;  // after which no further latent path is looked at
};

// What a sentence came to.
struct LatentAnswer {
  Status status = Status::optimal;
  Index position = -1, state = -1;      // where no path goes on, or of a bad score
  std::vector<Label> labels;            // [sequences][T], best first
  std::vector<double> log_probability;  // [sequences]
  double unseen = kNever<double>;       // the log of a bound on the probability of any sequence that was not found
  double allowance = 0;                 // the gap between this and a log probability that counts as rounding
  double remaining = 0;                 // the probability of all of those together
  double log_partition = 0;
  double gain = 0;                               // of the first sequence, on average, if there is one to rerank by
  bool stopped = false;                          // whether the time was over before anything was proven
  Index paths = 0, sequences = 0, expanded = 0;  // latent paths, label sequences found, prefixes of labels expanded
};

// Sentences one after the other: sentence n has the tokens [first[n], first[n + 1]).
struct LatentBatch {
  const double* emissions;  // [tokens][states]
  Pairs pairs;              // of the step into each token; that into the first token of a sentence counts for nothing
  const Index* first;       // [sentences + 1]
  Index sentences;
};

// What is found in every sentence, on several threads.
std::vector<LatentAnswer> infer_all(const LatentModel& model, const LatentBatch& batch, const LatentRequest& wanted,
                                    Index threads);
// probabilities [tokens][labels]: of each label of each token.
std::vector<LatentAnswer> find_label_marginals(const LatentModel& model, const LatentBatch& batch,
                                               double* probabilities, Index threads);

// The log of P(labels | x), as the answer's only sequence.
LatentAnswer log_probability(const LatentModel& model, const double* emissions, const Pairs& pairs, Index T,
                             const Label* labels);

}  // namespace certus::latent
