// Learns the weights of a pass of a cascade, online, by AdaGrad (Duchi, Hazan and Singer 2011) on
//
//   max(0, 1 - score(right tree) + t(a))         filter loss (Rush & Petrov 2012, section 4.2; Weiss and Taskar 2010),
//
// with the threshold t(a) of scoring/pruning_pass.hpp; posterior passes on the log-likelihood of the right tree.
#pragma once

#include "learn/arcs/candidates.hpp"
#include "scoring/arc_cascade.hpp"

namespace certus::learn {

class PassLearner {
 public:
  // `at`: a. Trees with crossing arcs are left out by passes that look for projective ones.
  PassLearner(OpenArcs& open, const features::ArcPlan& plan, const scoring::PassOptions& options, double at,
              float rate);

  const TreeCorpus& corpus() const { return open_.corpus(); }
  // Goes once over sentences in this order; returns the share of those that changed weights.
  double epoch(const Index* order, Index count);

  std::vector<float> weights, squares;  // [2^bits]

 private:
  void learn(Index sentence);
  void change(double amount);

  OpenArcs& open_;
  const features::ArcPlan& plan_;
  const double at_;
  const float rate_;
  std::vector<std::uint8_t> used_;  // [sentences]: whether a tree is learned from
  scoring::PruningPass pass_;
  scoring::PassKeys keys_;
  std::vector<Label> parts_, siblings_;
  features::Places places_;
  Index changed_ = 0;
};

// The highest thresholds at which a pass does not close an arc of the right tree: the arc into each word, and any of
// each sentence; infinity where arcs are closed already. Sentences without words, or without any structure, are left
// out.
struct HighestThresholds {
  std::vector<double> words, sentences;
};

// Of one sentence in so many. `pass` gives options and weights.
HighestThresholds find_highest_thresholds(OpenArcs& open, const features::ArcPlan& plan,
                                          const scoring::CascadePass& pass, Index each);
// Runs a pass over all sentences.
void close_arcs(OpenArcs& open, const features::ArcPlan& plan, const scoring::CascadePass& pass);

}  // namespace certus::learn
