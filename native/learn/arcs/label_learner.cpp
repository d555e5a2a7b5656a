#include "learn/arcs/label_learner.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace certus::learn {

LabelLearner::LabelLearner(const TreeCorpus& corpus, const std::vector<features::ArcWords>& words,
                           const features::ArcPlan& plan, const scoring::Relations& relations, float aggressiveness)
    : corpus_(corpus),
      words_(words),
      relations_(relations),
      aggressiveness_(aggressiveness),
      weights_((std::size_t{1} << plan.bits()) + static_cast<std::size_t>(relations.count), 0.0f),
      memory_(weights_.size(), 0.0f),
      labels_(plan, relations_, weights_.data()) {}

double LabelLearner::epoch(const Index* order, Index count) {
  Index words = 0;
  wrong_ = 0;
  Heed heed;
  for (Index i = 0; i < count; ++i) {
    heed(4096 * corpus_.length(order[i]));
    learn(order[i]);
    words += corpus_.length(order[i]);
  }
  return words ? static_cast<double>(wrong_) / static_cast<double>(words) : 0;
}

void LabelLearner::learn(Index sentence) {
  labels_.prepare(words_[sentence], corpus_.heads_of(sentence));
  for (Index m = 1; m <= corpus_.length(sentence); ++m) {
    ++steps_;
    places_.clear();
    labels_.find(m, places_);
    const float* scores = labels_.score(places_);
    const Label gold = corpus_.relations_of(sentence)[m - 1], other = labels_.choose(m, scores, gold);
    if (other < 0) continue;
    wrong_ += scores[other] >= scores[gold];
    const float loss = 1 + scores[other] - scores[gold];
    if (loss <= 0) continue;
    const float amount = std::min(aggressiveness_, loss / (2 * static_cast<float>(places_.bare.size())));
    const auto when = static_cast<float>(steps_);
    for (const features::Place place : places_.bare) {
      weights_[place + gold] += amount;
      memory_[place + gold] += amount * when;
      weights_[place + other] -= amount;
      memory_[place + other] -= amount * when;
    }
  }
}

std::vector<float> LabelLearner::average() const {
  std::vector<float> mean(weights_);
  const auto count = static_cast<float>(std::max<Index>(steps_, 1));
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] -= memory_[i] / count;
  return mean;
}

}  // namespace certus::learn
