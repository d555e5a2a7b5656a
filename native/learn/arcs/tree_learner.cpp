#include "learn/arcs/tree_learner.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace certus::learn {

using syntax::Arcs;

TreeLearner::TreeLearner(const TreeCorpus& corpus, const ArcCandidates& candidates, const features::ArcPlan& plan,
                         const scoring::Relations& relations, const TreeLearnerOptions& options)
    : weights((std::size_t{1} << plan.bits()) + static_cast<std::size_t>(relations.count), 0.0f),
      memory(weights.size(), 0.0f),
      corpus_(corpus),
      candidates_(candidates),
      plan_(plan),
      relations_(relations),
      options_(options),
      scorer_(plan_, relations_, weights.data()) {}

TreeEpoch TreeLearner::epoch(const Index* order, Index count) {
  TreeEpoch counts;
  Heed heed;
  for (Index i = 0; i < count; ++i) {
    heed(1024 * candidates_.arcs[order[i]].size());
    learn(order[i], counts);
  }
  ++epochs;
  if (epochs == options_.burn_in) {
    steps = 0;
    std::fill(memory.begin(), memory.end(), 0.0f);
  }
  return counts;
}

void TreeLearner::score(Index sentence, const Arcs& arcs) {
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  const bool costs = options_.mira;
  tables_.fill(scorer_, plan_, arcs, [&](Index a, Index r) {
    if (!costs) return 0.0;
    const Index m = arcs.modifier(a) - 1;
    return arcs.head(a) != heads[m] ? 1.0 : r != relations[m] ? double{options_.relation_cost} : 0.0;
  });
}

void TreeLearner::learn(Index sentence, TreeEpoch& counts) {
  const Arcs& arcs = candidates_.arcs[sentence];
  scorer_.prepare(corpus_.words[sentence]);
  score(sentence, arcs);
  search_.find(arcs, tables_.view(), options_.kind, found_);
  ++steps;
  if (!found_.exists) return;
  changes_.clear();
  collect(sentence, arcs);
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  Index wrong = 0;
  double loss = 0;
  for (Index m = 1; m <= arcs.words(); ++m) {
    const Label a = found_.arc_of[m - 1];
    if (arcs.head(a) == heads[m - 1] && tables_.relation[a] == relations[m - 1]) continue;
    ++wrong;
    loss += arcs.head(a) != heads[m - 1] ? 1.0 : double{options_.relation_cost};
  }
  counts.wrong += wrong;
  if (changes_.empty()) return;
  ++counts.sentences;
  double difference = 0, norm = 0;  // of the scores of the right tree and the best one
  for (const Change& change : changes_) {
    difference += static_cast<double>(change.amount) * weights[change.place];
    norm += static_cast<double>(change.amount) * change.amount;
  }
  if (!options_.mira) return apply(1.0f);
  const double violation = loss - difference;
  if (violation <= 0) return;
  apply(static_cast<float>(std::min<double>(options_.aggressiveness, violation / norm)));
}

void TreeLearner::add_arc(Index head, Index modifier, Index relation, float sign) {
  places_.clear();
  scorer_.keys(features::ArcPart::arc).arc(head, modifier, places_);
  add_places(sign);
  for (const features::Place place : places_.relation)
    changes_.push_back({place + static_cast<features::Place>(relation), sign});
}

// The features of siblings and grandparents of a tree.
void TreeLearner::add_others(const Label* heads, Index n, float sign) {
  using features::ArcPart;
  places_.clear();
  scoring::visit_siblings(heads, n, [&](Index h, Index m, Index s, Index g) {
    if (plan_.has(ArcPart::sibling)) scorer_.keys(ArcPart::sibling).sibling(h, m, s, places_);
    if (plan_.has(ArcPart::grand_sibling)) scorer_.keys(ArcPart::grand_sibling).grand_sibling(g, h, m, s, places_);
    if (plan_.has(ArcPart::grandparent) && m <= n) scorer_.keys(ArcPart::grandparent).grandparent(g, h, m, places_);
  });
  add_places(sign);
}

void TreeLearner::add_places(float sign) {
  for (const features::Place place : places_.bare) changes_.push_back({place, sign});
}

// The features by which the right tree and the best one differ, each place once.
void TreeLearner::collect(Index sentence, const Arcs& arcs) {
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  for (Index m = 1; m <= arcs.words(); ++m) {
    const Label a = found_.arc_of[m - 1];
    if (arcs.head(a) == heads[m - 1] && tables_.relation[a] == relations[m - 1]) continue;
    add_arc(heads[m - 1], m, relations[m - 1], 1.0f);
    add_arc(arcs.head(a), m, tables_.relation[a], -1.0f);
  }
  best_heads_.clear();
  for (const Label a : found_.arc_of) best_heads_.push_back(arcs.head(a));
  if (!std::equal(best_heads_.begin(), best_heads_.end(), heads)) {
    add_others(heads, arcs.words(), 1.0f);
    add_others(best_heads_.data(), arcs.words(), -1.0f);
  }
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.place < b.place; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < changes_.size();) {
    Change sum = changes_[i++];
    for (; i < changes_.size() && changes_[i].place == sum.place; ++i) sum.amount += changes_[i].amount;
    if (sum.amount != 0) changes_[kept++] = sum;
  }
  changes_.resize(kept);
}

void TreeLearner::apply(float rate) {
  const auto when = static_cast<float>(steps);
  for (const Change& change : changes_) {
    weights[change.place] += rate * change.amount;
    memory[change.place] += rate * change.amount * when;
  }
}

std::vector<float> TreeLearner::average() const {
  std::vector<float> mean(weights);
  const float count = static_cast<float>(std::max<Index>(steps, 1));
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] -= memory[i] / count;
  return mean;
}

}  // namespace certus::learn
