// Learns which heads are worth scoring, by AdaGrad (Duchi, Hazan and Singer 2011) on the log-likelihood: a log-linear
// distribution over the heads of each word by itself, or over trees (Koo et al. 2010, section 6).
#pragma once

#include "learn/arcs/corpus.hpp"
#include "scoring/head_candidates.hpp"

namespace certus::learn {

struct HeadLearnerOptions {
  float rate = 0.1f;
  bool trees = false;
  bool single_root = false;  // of trees
};

class HeadLearner {
 public:
  HeadLearner(const TreeCorpus& corpus, const features::ArcPlan& plan, const HeadLearnerOptions& options);

  // Goes once over sentences in this order; returns the negative log-likelihood per word.
  double epoch(const Index* order, Index count);

  const TreeCorpus& corpus() const { return corpus_; }
  const features::ArcPlan& plan() const { return plan_; }

  std::vector<float> weights, squares;  // [2^bits]

 private:
  using Scorer = scoring::HeadScorer<float>;
  // Take a step from a sentence, or one of its words; return the negative log-likelihood.
  double learn_words(Scorer& scorer, Index sentence);
  double learn_word(Index n, const double* scores, Index gold);
  double learn_tree(Scorer& scorer, Index sentence);
  void change(double gradient, const features::Place* first, const features::Place* last);

  const TreeCorpus& corpus_;
  const features::ArcPlan& plan_;
  const HeadLearnerOptions options_;
  std::vector<features::Place> places_;  // of the heads of one word,
  std::vector<Index> ends_;              // and where those of each end
  std::vector<double> scores_, probabilities_;
  scoring::Candidates heads_;  // of all words of a sentence
  features::Places found_;
};

}  // namespace certus::learn
