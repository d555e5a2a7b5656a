#include "learn/arcs/head_learner.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "scoring/head_candidates.hpp"

namespace certus::learn {
namespace {

constexpr double kSmall = 1e-3;  // gradients below this change nothing

}  // namespace

HeadLearner::HeadLearner(const TreeCorpus& corpus, const features::ArcPlan& plan, float rate)
    : weights(std::size_t{1} << plan.bits(), 0.0f),
      squares(std::size_t{1} << plan.bits(), 1.0f),
      corpus_(corpus),
      plan_(plan),
      rate_(rate) {}

double HeadLearner::learn_word(Index n, const double* scores, Index gold) {
  const double most = *std::max_element(scores, scores + n + 1);
  double total = 0;
  probabilities_.resize(static_cast<std::size_t>(n) + 1);
  for (Index h = 0; h <= n; ++h) total += probabilities_[h] = std::exp(scores[h] - most);
  Index begin = 0;
  for (Index h = 0; h <= n; ++h) {
    const double gradient = probabilities_[h] / total - (h == gold ? 1.0 : 0.0);
    if (std::abs(gradient) > kSmall) {
      const auto g = static_cast<float>(gradient);
      for (Index i = begin; i < ends_[h]; ++i) {
        float& square = squares[places_[i]];
        square += g * g;
        weights[places_[i]] -= rate_ * g / std::sqrt(square);
      }
    }
    begin = ends_[h];
  }
  return std::log(total) - (scores[gold] - most);
}

double HeadLearner::epoch(const Index* order, Index count) {
  scoring::HeadScorer<float> scorer(plan_, weights.data());
  std::vector<double> scores;
  double loss = 0;
  Index words = 0;
  Heed heed;
  for (Index i = 0; i < count; ++i) {
    const Index s = order[i], n = corpus_.length(s);
    scorer.prepare(corpus_.pruning[s]);
    scores.resize(static_cast<std::size_t>(n) + 1);
    for (Index m = 1; m <= n; ++m) {
      heed(64 * n);
      places_.clear();
      ends_.clear();
      scorer.score(n, m, scores.data(), &places_, &ends_);
      loss += learn_word(n, scores.data(), corpus_.heads_of(s)[m - 1]);
    }
    words += n;
  }
  return words ? loss / static_cast<double>(words) : 0;
}

}  // namespace certus::learn
