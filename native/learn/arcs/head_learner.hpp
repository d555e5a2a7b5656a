// Learns which heads are worth scoring: a log-linear distribution over the heads of each word by itself, by AdaGrad
// (Duchi, Hazan and Singer 2011) on the log-likelihood. Words are taken one by one: no tree is looked for.
#pragma once

#include "learn/arcs/corpus.hpp"

namespace certus::learn {

class HeadLearner {
 public:
  HeadLearner(const TreeCorpus& corpus, const features::ArcPlan& plan, float rate);

  // Goes once over sentences in this order; returns the negative log-likelihood per word.
  double epoch(const Index* order, Index count);

  const TreeCorpus& corpus() const { return corpus_; }
  const features::ArcPlan& plan() const { return plan_; }

  std::vector<float> weights, squares;  // [2^bits]

 private:
  double learn_word(Index n, const double* scores, Index gold);

  const TreeCorpus& corpus_;
  const features::ArcPlan& plan_;
  float rate_;
  std::vector<features::Place> places_;  // of the heads of one word,
  std::vector<Index> ends_;              // and where those of each end
  std::vector<double> probabilities_;
};

}  // namespace certus::learn
