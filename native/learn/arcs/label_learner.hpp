// Learns the relations of trees that are known (scoring/tree_labels.hpp), word by word: where the right relation is not
// better than any other by 1, weights change as little as makes it so, by at most C (Crammer et al. 2006).
#pragma once

#include "learn/arcs/corpus.hpp"
#include "scoring/tree_labels.hpp"

namespace certus::learn {

class LabelLearner {
 public:
  LabelLearner(const TreeCorpus& corpus, const std::vector<features::ArcWords>& words, const features::ArcPlan& plan,
               const scoring::Relations& relations, float aggressiveness);

  const TreeCorpus& corpus() const { return corpus_; }
  // Goes once over sentences in this order; returns the share of words with a wrong relation.
  double epoch(const Index* order, Index count);
  // The mean of the weights over all words seen.
  std::vector<float> average() const;

 private:
  void learn(Index sentence);

  const TreeCorpus& corpus_;
  const std::vector<features::ArcWords>& words_;
  const scoring::Relations relations_;
  const float aggressiveness_;
  std::vector<float> weights_, memory_;  // [2^bits + relations]: memory is what was added, times when
  scoring::TreeLabels<float> labels_;
  features::Places places_;
  Index steps_ = 0, wrong_ = 0;
};

}  // namespace certus::learn
