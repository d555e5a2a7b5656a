// The negative log-likelihood of a corpus and its gradient.
//
//   loss(w) = sum over sentences of log Z(x) - score(gold | x) + c2 |w|^2
//   d loss / d state[f][y] = sum over tokens of value(f) (P(y_t = y) - [gold_t = y]) + 2 c2 state[f][y]
//
// Where labels have latent states, score(gold | x) is the log of the sum over the states of the gold labels, and
// [gold_t = y] the probability of a state given all gold labels of the sentence (crf_latent.hpp).
//
// The corpus is cut into blocks whose probabilities stay in cache. In each block the sentences are summed first; then
// every feature collects its own part of the gradient from its places in the block (crf_places.hpp). Threads share the
// sentences and then the features, never a sum: whatever their number, the same numbers are added in the same order.
#pragma once

#include <atomic>
#include <memory>

#include "base/interrupt.hpp"
#include "learn/crf/data.hpp"
#include "learn/crf/latent.hpp"
#include "learn/crf/places.hpp"

namespace certus::learn {

class CrfObjective {
 public:
  CrfObjective(const CrfData& data, double c2, Index threads);

  double operator()(const double* w, double* gradient);

 private:
  struct Block {
    Index first, last;  // sentences
    Index token;        // the first one
    std::optional<CrfPlaces> places, pair_places;
    std::atomic<Index> next_sentence{0}, next_unit{0};
  };

  void cut();
  template <class Wait>
  void work(const double* w, double* gradient, const Wait& wait);
  void work_together(const double* w, double* gradient);
  void sum_sentences(Block& block, const double* w, Heed& heed);
  double sum_plain(Index sentence, Index token);
  double sum_latent(Index sentence, Index token);
  double sum_pairs(Index sentence, Index token, const double* w);
  double sum_factored(Index sentence, Index token, const double* w);
  double sum_steps_in_log_space(Index sentence, const CrfSteps& steps, double* r, double* pairs) const;
  double sum_factored_in_log_space(Index sentence, const double* w, double* r, double* of_labels,
                                   double* of_states) const;
  void collect_factored(Index first, Index last, Index tokens);
  void collect(Block& block, double* gradient);
  bool shared() const { return data_.pairs && data_.pairs->sharing > 1; }
  void redo(const Block& block, const double* w);

  const CrfData& data_;
  double c2_;
  Index threads_;
  std::vector<std::unique_ptr<Block>> blocks_;
  CrfLinks links_{data_.layout};
  Doubles a_, b_, r_;    // [tokens of a block][width], as in crf_chain.hpp
  Doubles step_pairs_;   // [tokens of a block][L][width]: where there are features of pairs, the expected pairs that
                         // end at each token, less those of the gold labels; or [tokens][labels][pairs' width]
  Doubles z_;            // [tokens of a block][labels][width], as in crf_factored.hpp
  Doubles pairs_;        // [L][width]: expected pairs, less their factor link,
  Doubles whole_pairs_;  // and those found in log space or at each token, whole
  Doubles gold_pairs_;   // [L][width]: the pairs of the corpus, which are known where nothing is latent;
  Doubles gold_a_, gold_b_, gold_p_;  // else [tokens of a block][latent], as in crf_latent.hpp,
  Doubles latent_pairs_;              // and [L][width]: expected pairs given the gold labels, less their factor link
  std::vector<double> loss_ = std::vector<double>(data_.input.sentences());
  std::vector<unsigned char> ranged_ = std::vector<unsigned char>(loss_.size()), gold_ranged_;  // [sentences]
};

}  // namespace certus::learn
