#include "learn/arcs/tree_learner.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace certus::learn {

using syntax::Arcs;

namespace {

constexpr double kPickCost = 0.5;  // of an arc that an automaton picks wrongly, misses, or wrongly has as its parent

}  // namespace

TreeLearner::TreeLearner(const TreeCorpus& corpus, const ArcCandidates& candidates, const ArcCandidates& likely,
                         std::vector<const scoring::CoarseModel*> coarse, const features::ArcPlan& plan,
                         const scoring::Relations& relations, const TreeLearnerOptions& options)
    : weights((std::size_t{1} << plan.bits()) + static_cast<std::size_t>(relations.count), 0.0f),
      memory(weights.size(), 0.0f),
      corpus_(corpus),
      candidates_(candidates),
      likely_(likely),
      coarse_(std::move(coarse)),
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
  const double wrong = options_.from_automata ? kPickCost : 1.0, right = options_.from_automata ? -kPickCost : 0.0;
  const auto cost = [&](Index a, Index r) {
    if (!options_.mira) return 0.0;
    const Index m = arcs.modifier(a) - 1;
    return arcs.head(a) != heads[m] ? wrong : r != relations[m] ? right + double{options_.relation_cost} : right;
  };
  tables_.fill(scorer_, plan_, arcs, cost);
  if (coarse_.empty()) return;
  coarse_.score(sentence, corpus_.pruning[sentence]);
  coarse_of_.resize(static_cast<std::size_t>(arcs.size()));
  costs_.resize(coarse_of_.size());
  for (Index a = 0; a < arcs.size(); ++a) {
    coarse_of_[a] = coarse_.score(arcs.head(a), arcs.modifier(a));
    costs_[a] = cost(a, tables_.relation[a]);
  }
  tables_.refine(plan_, arcs, coarse_of_.data(), costs_.data(), coarse_.cap());
}

void TreeLearner::learn(Index sentence, TreeEpoch& counts) {
  ++steps;
  changes_.clear();
  scorer_.prepare(corpus_.words[sentence]);
  arcs_ = &candidates_.arcs[sentence];
  if (coarse_.empty() && scoring::is_small(plan_, arcs_->words())) {  // as it is parsed
    all_arcs_.assign_all(arcs_->words());
    arcs_ = &all_arcs_;
  }
  score(sentence, *arcs_);
  if (options_.from_automata) learn_from_automata(sentence, counts);
  else learn_from_tree(sentence, counts);
}

void TreeLearner::learn_from_tree(Index sentence, TreeEpoch& counts) {
  const Arcs& arcs = *arcs_;
  search_.find(arcs, tables_.view(), options_.kind, found_);
  if (!found_.exists) return;
  best_heads_.clear();
  for (const Label a : found_.arc_of) best_heads_.push_back(arcs.head(a));
  count_wrong(sentence, counts);
  if (!coarse_.empty()) {
    learn_refined(sentence);
    learn_from_bounds(sentence, counts);
    return;
  }
  collect(sentence, arcs);
  counts.sentences += !changes_.empty();
  update(find_loss(sentence));
}

// Of the tree of best_heads_, with the best relations of candidates.
double TreeLearner::find_loss(Index sentence) {
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  double loss = 0;
  for (Index m = 1; m <= arcs_->words(); ++m) {
    const Label a = arcs_->find(best_heads_[m - 1], m);
    if (best_heads_[m - 1] != heads[m - 1]) loss += 1.0;
    else if (tables_.relation[a] != relations[m - 1]) loss += double{options_.relation_cost};
  }
  return loss;
}

void TreeLearner::count_wrong(Index sentence, TreeEpoch& counts) {
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  for (Index m = 1; m <= arcs_->words(); ++m) {
    const Label a = found_.arc_of[m - 1];
    counts.wrong += arcs_->head(a) != heads[m - 1] || tables_.relation[a] != relations[m - 1];
  }
}

void TreeLearner::learn_from_bounds(Index sentence, TreeEpoch& counts) {
  const Index n = arcs_->words(), N = n + 1;
  const Label* heads = corpus_.heads_of(sentence);
  bounds_.assign(static_cast<std::size_t>(n * N), kNever<double>);
  for (Index m = 1; m <= n; ++m)
    for (Index h = 0; h <= n; ++h)
      if (h != m) bounds_[(m - 1) * N + h] = coarse_.score(h, m) + coarse_.cap() + (options_.mira && h != heads[m - 1]);
  const Arcs& likely = likely_.arcs[sentence];
  likely_scores_.resize(static_cast<std::size_t>(likely.size()));
  likely_relations_.resize(likely_scores_.size());
  scorer_.score_arcs(likely, [](Index, Index) { return 0.0; }, likely_scores_.data(), likely_relations_.data());
  for (Index a = 0; a < likely.size(); ++a) {
    const Index h = likely.head(a), m = likely.modifier(a);
    bounds_[(m - 1) * N + h] = scoring::refine_arc(likely_scores_[a], coarse_.score(h, m), 0, coarse_.cap()) +
                               (options_.mira && h != heads[m - 1]);
  }
  found_heads_.resize(static_cast<std::size_t>(n));
  if (!partly_.decode(*arcs_, tables_.view(), bounds_.data(), options_.kind.single_root, nullptr, found_heads_.data()))
    return;
  best_heads_.assign(found_heads_.begin(), found_heads_.end());
  bool known = true;
  for (Index m = 1; m <= n; ++m) known = known && arcs_->find(best_heads_[m - 1], m) >= 0;
  if (!known) learn_refined(sentence);
  counts.sentences += !changes_.empty();
}

double TreeLearner::add_up_arc(const RefinedPart& part) {
  places_.clear();
  scorer_.keys(features::ArcPart::arc).arc(part.head, part.modifier, places_);
  double sum = 0;
  for (const features::Place place : places_.bare) sum += weights[place];
  for (const features::Place place : places_.relation)
    sum += weights[place + static_cast<features::Place>(part.relation)];
  return sum;
}

double TreeLearner::add_up_parts(const RefinedPart& part) {
  places_.clear();
  find_others(part.head, part.modifier, part.sibling, part.grandparent, arcs_->words());
  double sum = 0;
  for (const features::Place place : places_.bare) sum += weights[place];
  return sum;
}

void TreeLearner::add_refined_parts(const RefinedPart& part, float sign) {
  places_.clear();
  find_others(part.head, part.modifier, part.sibling, part.grandparent, arcs_->words());
  add_places(sign);
}

void TreeLearner::learn_refined(Index sentence) {
  const Arcs &arcs = *arcs_, &likely = likely_.arcs[sentence];
  best_relations_.clear();
  for (Index m = 1; m <= arcs.words(); ++m) {
    const Label a = arcs.find(best_heads_[m - 1], m), b = a < 0 ? likely.find(best_heads_[m - 1], m) : -1;
    best_relations_.push_back(a >= 0 ? tables_.relation[a] : b >= 0 ? likely_relations_[b] : Label{0});
  }
  const bool has_parents = tables_.view().has_parents();
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  const double right = right_tree_.assign(heads, relations, likely, arcs, has_parents, coarse_, *this);
  const double best =
      best_tree_.assign(best_heads_.data(), best_relations_.data(), likely, arcs, has_parents, coarse_, *this);
  changes_.clear();
  for (std::size_t i = 0; i < right_tree_.parts.size(); ++i) {
    const RefinedPart &good = right_tree_.parts[i], &bad = best_tree_.parts[i];
    if (!good.has_same_arc(bad)) {
      if (!good.arc_capped) add_arc(good.head, good.modifier, good.relation, 1.0f);
      if (bad.arc_scored) add_arc(bad.head, bad.modifier, bad.relation, -1.0f);
    }
    if (!good.has_same_parts(bad)) {
      if (!good.parts_capped) add_refined_parts(good, 1.0f);
      if (bad.parts_scored) add_refined_parts(bad, -1.0f);
    }
  }
  merge_changes();
  step(find_loss(sentence) + best - right);
}

void TreeLearner::learn_from_automata(Index sentence, TreeEpoch& counts) {
  const Arcs& arcs = *arcs_;
  const Label* heads = corpus_.heads_of(sentence);
  parent_costs_.assign(static_cast<std::size_t>(arcs.size()), 0);
  for (Index a = 0; options_.mira && a < arcs.size(); ++a)
    if (arcs.head(a) != heads[arcs.modifier(a) - 1]) parent_costs_[a] = kPickCost;
  if (picks_.find(arcs, tables_.view(), parent_costs_.data()) == kNever<double>) return;
  double loss = 0;
  for (Index h = 0; h <= arcs.words(); ++h) loss += collect_pick(h, sentence, counts);
  merge_changes();
  counts.sentences += !changes_.empty();
  update(loss);
}

double TreeLearner::collect_pick(Index head, Index sentence, TreeEpoch& counts) {
  const Arcs& arcs = *arcs_;
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  const syntax::Pick& pick = picks_.all()[head];
  right_picks_.clear();
  for (Label a = arcs.begin(head); a < arcs.begin(head + 1); ++a)
    if (heads[arcs.modifier(a) - 1] == head) right_picks_.push_back(a);
  Index right = 0, other_relations = 0;
  for (const Label a : pick.arcs) {
    const Index m = arcs.modifier(a) - 1;
    if (heads[m] != head) continue;
    ++right;
    other_relations += tables_.relation[a] != relations[m];
  }
  const Index missed = static_cast<Index>(right_picks_.size()) - right;
  const Index wrong = static_cast<Index>(pick.arcs.size()) - right;
  const Index grandparent = head == 0 ? arcs.words() + 1 : Index{heads[head - 1]};
  const Index parent = pick.parent < 0 ? grandparent : Index{arcs.head(pick.parent)};
  counts.wrong += missed + other_relations;
  if (missed + wrong + other_relations == 0 && parent == grandparent) return 0;
  add_pick(head, grandparent, right_picks_, sentence, 1.0f);
  add_pick(head, parent, pick.arcs, sentence, -1.0f);
  return kPickCost * static_cast<double>(missed + wrong + (parent != grandparent)) +
         double{options_.relation_cost} * static_cast<double>(other_relations);
}

// The features of what an automaton picks; right picks have their right relations.
void TreeLearner::add_pick(Index head, Index grandparent, const std::vector<Label>& picked, Index sentence,
                           float sign) {
  const Arcs& arcs = *arcs_;
  const Label* relations = corpus_.relations_of(sentence);
  modifiers_.clear();
  for (const Label a : picked) {
    const Label m = arcs.modifier(a);
    modifiers_.push_back(m);
    add_arc(head, m, sign > 0 ? relations[m - 1] : tables_.relation[a], sign);
  }
  places_.clear();
  scoring::visit_neighbours(head, grandparent, modifiers_, arcs.words(),
                            [&](Index h, Index m, Index s, Index g) { find_others(h, m, s, g, arcs.words()); });
  add_places(sign);
}

void TreeLearner::update(double loss) {
  double difference = 0;  // of the scores of the right tree and the best one
  for (const Change& change : changes_) difference += static_cast<double>(change.amount) * weights[change.place];
  step(loss - difference);
}

void TreeLearner::step(double violation) {
  if (changes_.empty()) return;
  if (!options_.mira) return apply(1.0f);
  if (violation <= 0) return;
  double norm = 0;
  for (const Change& change : changes_) norm += static_cast<double>(change.amount) * change.amount;
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
  places_.clear();
  scoring::visit_siblings(heads, n, [&](Index h, Index m, Index s, Index g) { find_others(h, m, s, g, n); });
  add_places(sign);
}

void TreeLearner::find_others(Index head, Index modifier, Index sibling, Index grandparent, Index n) {
  using features::ArcPart;
  const auto keys = [&](ArcPart part) { return plan_.has(part) ? &scorer_.keys(part) : nullptr; };
  if (const auto* of = keys(ArcPart::sibling)) of->sibling(head, modifier, sibling, places_);
  if (const auto* of = keys(ArcPart::grand_sibling)) of->grand_sibling(grandparent, head, modifier, sibling, places_);
  if (modifier > n) return;
  if (const auto* of = keys(ArcPart::grandparent)) of->grandparent(grandparent, head, modifier, places_);
}

void TreeLearner::add_places(float sign) {
  for (const features::Place place : places_.bare) changes_.push_back({place, sign});
}

// The features by which the right tree and the best one differ.
void TreeLearner::collect(Index sentence, const Arcs& arcs) {
  const Label *heads = corpus_.heads_of(sentence), *relations = corpus_.relations_of(sentence);
  for (Index m = 1; m <= arcs.words(); ++m) {
    const Label a = found_.arc_of[m - 1];
    if (arcs.head(a) == heads[m - 1] && tables_.relation[a] == relations[m - 1]) continue;
    add_arc(heads[m - 1], m, relations[m - 1], 1.0f);
    add_arc(arcs.head(a), m, tables_.relation[a], -1.0f);
  }
  if (!std::equal(best_heads_.begin(), best_heads_.end(), heads)) {
    add_others(heads, arcs.words(), 1.0f);
    add_others(best_heads_.data(), arcs.words(), -1.0f);
  }
  merge_changes();
}

// Makes each place occur once.
void TreeLearner::merge_changes() {
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
