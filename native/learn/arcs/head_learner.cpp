#include "learn/arcs/head_learner.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"

namespace certus::learn {
namespace {

constexpr double kSmall = 1e-3;  // gradients below this change nothing

}  // namespace

HeadLearner::HeadLearner(const TreeCorpus& corpus, const features::ArcPlan& plan, const HeadLearnerOptions& options)
    : weights(std::size_t{1} << plan.bits(), 0.0f),
      squares(std::size_t{1} << plan.bits(), 1.0f),
      corpus_(corpus),
      plan_(plan),
      options_(options) {}

void HeadLearner::change(double gradient, const features::Place* first, const features::Place* last) {
  if (std::abs(gradient) <= kSmall) return;
  const auto g = static_cast<float>(gradient);
  for (const features::Place* place = first; place != last; ++place) {
    float& square = squares[*place];
    square += g * g;
    weights[*place] -= options_.rate * g / std::sqrt(square);
  }
}

double HeadLearner::learn_word(Index n, const double* scores, Index gold) {
  const double most = *std::max_element(scores, scores + n + 1);
  double total = 0;
  probabilities_.resize(static_cast<std::size_t>(n) + 1);
  for (Index h = 0; h <= n; ++h) total += probabilities_[h] = std::exp(scores[h] - most);
  Index begin = 0;
  for (Index h = 0; h <= n; ++h) {
    change(probabilities_[h] / total - (h == gold ? 1.0 : 0.0), places_.data() + begin, places_.data() + ends_[h]);
    begin = ends_[h];
  }
  return std::log(total) - (scores[gold] - most);
}

double HeadLearner::learn_words(Scorer& scorer, Index sentence) {
  const Index n = corpus_.length(sentence);
  scorer.prepare(corpus_.pruning[sentence]);
  scores_.resize(static_cast<std::size_t>(n) + 1);
  double loss = 0;
  for (Index m = 1; m <= n; ++m) {
    places_.clear();
    ends_.clear();
    scorer.score(n, m, scores_.data(), places_, ends_);
    loss += learn_word(n, scores_.data(), corpus_.heads_of(sentence)[m - 1]);
  }
  return loss;
}

double HeadLearner::learn_tree(Scorer& scorer, Index sentence) {
  const Index n = corpus_.length(sentence);
  const Label* right = corpus_.heads_of(sentence);
  heads_.score(scorer, corpus_.pruning[sentence], 1.0);
  double of_right = 0;
  for (Index m = 1; m <= n; ++m) of_right += heads_.score(right[m - 1], m);
  const double all = heads_.find_marginals(options_.single_root);
  for (Index m = 1; m <= n; ++m)
    for (Index h = 0; h <= n; ++h) {
      const double gradient = h == m ? 0 : std::exp(heads_.score(h, m)) - (h == right[m - 1] ? 1.0 : 0.0);
      if (std::abs(gradient) <= kSmall) continue;  // features of most arcs need not be found
      found_.clear();
      scorer.keys().arc(h, m, found_);
      change(gradient, found_.bare.begin(), found_.bare.end());
    }
  return all - of_right;
}

double HeadLearner::epoch(const Index* order, Index count) {
  Scorer scorer(plan_, weights.data());
  double loss = 0;
  Index words = 0;
  Heed heed;
  for (Index i = 0; i < count; ++i) {
    const Index n = corpus_.length(order[i]);
    heed(64 * n * n);
    loss += options_.trees ? learn_tree(scorer, order[i]) : learn_words(scorer, order[i]);
    words += n;
  }
  return words ? loss / static_cast<double>(words) : 0;
}

}  // namespace certus::learn
