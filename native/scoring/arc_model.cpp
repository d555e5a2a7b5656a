#include "scoring/arc_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "relax/spanning_tree.hpp"

namespace certus::scoring {

static double cost_nothing(Index, Index) { return 0; }
// Where a coarse model bounds arcs, these shares of the probability of a word's best head decide which arcs are scored
// from the start, with all parts and by themselves; and what counts as nearly as good, where a wrong head costs 1 in
// learning. The answer depends on none of them.
static constexpr double kCandidateRatio = 0.06, kLikelyRatio = 6e-4, kNear = 0.35;
static constexpr Index kFewWords = 40;  // that lists of trees are over all arcs of, where others are too short
static constexpr Index kMostParts = Index{1} << 26;  // siblings and grandparents of a sentence: half a gigabyte

void ArcModel::Worker::parse(const features::Sentence& sentence, const ParsingOptions& options, ParsedTree& out) {
  if (is_plain(model_.plan_) && scores_all(sentence.length, options.limits))
    return parse_plain(sentence, options.kind, out);
  prepare(sentence, options);
  if (model_.coarse_ && !is_whole()) {
    search_all(options, out.tree);
    name(sentence, out);
    out.bound = out.tree.bound;
    return;
  }
  search(sentence, options, out);
  if (!out.tree.exists && !is_whole()) {
    widen(options.limits);  // what was left out may be what trees need
    search(sentence, options, out);
  }
  out.bound = find_bound(out.tree.bound);
}

void ArcModel::Worker::parse_plain(const features::Sentence& sentence, const TreeKind& kind, ParsedTree& out) {
  const Index n = sentence.length;
  if (model_.has_prior()) score_heads(sentence);
  look_up(sentence);
  all_scores_.resize(static_cast<std::size_t>(n * (n + 1)));
  score_all_arcs(n, all_scores_.data());
  heads_of_tree_.resize(static_cast<std::size_t>(n));
  out.tree.exists = kind.projective
                        ? eisner_.decode(all_scores_.data(), n, kind.single_root, heads_of_tree_.data())
                        : relax::spanning_tree(all_scores_.data(), n, kind.single_root, heads_of_tree_.data());
  if (!out.tree.exists) return;
  tree_arcs_.clear();
  for (Index m = 1; m <= n; ++m) tree_arcs_.emplace_back(heads_of_tree_[m - 1], m);
  std::sort(tree_arcs_.begin(), tree_arcs_.end());
  std::vector<Label> heads, modifiers;
  for (const auto& [head, modifier] : tree_arcs_) {
    heads.push_back(static_cast<Label>(head));
    modifiers.push_back(static_cast<Label>(modifier));
  }
  arcs_.assign(n, heads.data(), modifiers.data(), n);
  fill_tables();
  out.tree.arc_of.resize(static_cast<std::size_t>(n));
  for (Index m = 1; m <= n; ++m) out.tree.arc_of[m - 1] = arcs_.into(arcs_.into_begin(m));
  out.tree.score = out.tree.bound = out.bound = syntax::score_tree(arcs_, tables_.view(), out.tree.arc_of.data());
  out.tree.proven = true;
  name(sentence, out);
  out.candidates = n * n;
}

void ArcModel::Worker::search_all(const ParsingOptions& options, FoundTree& found) {
  const Index n = arcs_.words(), N = n + 1;
  all_scores_.assign(static_cast<std::size_t>(n * N), kNever<double>);
  const double cap = find_cap();
  for (Index m = 1; m <= n; ++m)
    for (Index h = 0; h <= n; ++h)
      if (h != m) all_scores_[(m - 1) * N + h] = find_prior(h, m) + cap;
  candidates_.choose({kLikelyRatio, n}, nullptr, false, likely_);
  score_fine(likely_);
  for (Index a = 0; a < likely_.size(); ++a) {
    const Index h = likely_.head(a), m = likely_.modifier(a), cell = (m - 1) * N + h;
    all_scores_[cell] = add_prior(fine_[cell], h, m);
  }
  const auto score = [this](const Arcs&) {
    fill_tables();
    return tables_.view();
  };
  const ArcBounds bounds{all_scores_.data(), kNear / model_.step()};
  admissible_.find(score, bounds, options.kind, search_, arcs_, found);
}

void ArcModel::Worker::score_fine(const Arcs& arcs) {
  const Index N = arcs.words() + 1;
  unscored_heads_.clear();
  unscored_modifiers_.clear();
  for (Index a = 0; a < arcs.size(); ++a) {
    if (!std::isnan(fine_[(arcs.modifier(a) - 1) * N + arcs.head(a)])) continue;
    unscored_heads_.push_back(static_cast<Label>(arcs.head(a)));
    unscored_modifiers_.push_back(static_cast<Label>(arcs.modifier(a)));
  }
  if (unscored_heads_.empty()) return;
  unscored_.assign(arcs.words(), unscored_heads_.data(), unscored_modifiers_.data(),
                   static_cast<Index>(unscored_heads_.size()));
  new_scores_.resize(unscored_heads_.size());
  new_relations_.resize(unscored_heads_.size());
  parts_.score_arcs(unscored_, cost_nothing, new_scores_.data(), new_relations_.data());
  for (Index a = 0; a < unscored_.size(); ++a) {
    const Index cell = (unscored_.modifier(a) - 1) * N + unscored_.head(a);
    fine_[cell] = new_scores_[a];
    fine_relation_[cell] = new_relations_[a];
  }
}

bool ArcModel::Worker::scores_all(Index words, const CandidateLimits& limits) const {
  return limits.ratio <= 0 || (is_small(model_.plan_, words) && !model_.coarse_);
}

void ArcModel::Worker::score_all_arcs(Index n, double* scores) {
  const Index N = n + 1;
  parts_.score_all_arcs(n, scores);
  for (Index m = 1; model_.has_prior() && m <= n; ++m)
    for (Index h = 0; h < N; ++h)
      if (h != m) scores[(m - 1) * N + h] = add_prior(scores[(m - 1) * N + h], h, m);
}

void ArcModel::Worker::prune(const features::Sentence& sentence, const CandidateLimits& limits) {
  const bool all = scores_all(sentence.length, limits);
  if (all) arcs_.assign_all(sentence.length);
  else if (cascade_) cascade_->prune(sentence, model_.cascade_->size(), arcs_);
  if (cascade_ || (all && !model_.has_prior())) return;
  score_heads(sentence);
  if (!all) choose_arcs(limits, false);
}

void ArcModel::Worker::choose_arcs(const CandidateLimits& limits, bool connected) {
  candidates_.choose({model_.coarse_ ? kCandidateRatio : limits.ratio, limits.most}, nullptr, connected, arcs_);
}

void ArcModel::Worker::score_heads(const features::Sentence& sentence) {
  const ArcPlan& plan = model_.coarse_ ? model_.coarse_->plan : model_.heads_->plan;
  plan.look_up(sentence, words_);
  candidates_.score(*heads_, words_, model_.coarse_ ? model_.coarse_->weights.step : model_.heads_->weights.step);
  if (!model_.coarse_ && model_.has_prior()) candidates_.find_marginals(model_.heads_->single_root);
}

double ArcModel::Worker::find_prior(Index head, Index modifier) const {
  if (!model_.has_prior()) return 0;
  const double scale = model_.coarse_ ? model_.coarse_->scale : model_.heads_->prior;
  const double prior = scale * candidates_.score(head, modifier) / model_.step();
  return model_.coarse_ ? std::round(prior) : prior;  // sums of whole numbers are exact
}

double ArcModel::Worker::add_prior(double score, Index head, Index modifier) const {
  const double prior = find_prior(head, modifier);
  return model_.coarse_ ? refine_arc(score, prior, 0, find_cap()) : score + prior;
}

double ArcModel::Worker::find_cap() const { return std::round(model_.coarse_->cap / model_.step()); }

void ArcModel::Worker::widen(const CandidateLimits& limits) {
  if (is_whole()) return;
  if (cascade_) cascade_->widen(arcs_);
  else choose_arcs(limits, true);
}

void ArcModel::Worker::prepare(const features::Sentence& sentence, const ParsingOptions& options) {
  prune(sentence, options.limits);
  look_up(sentence);
}

void ArcModel::Worker::look_up(const features::Sentence& sentence) {
  model_.plan_.look_up(sentence, words_);
  parts_.prepare(words_);
  if (!model_.coarse_) return;
  fine_.assign(static_cast<std::size_t>(sentence.length * (sentence.length + 1)), std::nan(""));
  fine_relation_.resize(fine_.size());
}

// The k best trees; `out` gets fewer where there are not so many.
void ArcModel::Worker::rank(const features::Sentence& sentence, const ParsingOptions& given, Index k,
                            std::vector<ParsedTree>& out, bool* exhausted) {
  ParsingOptions options = given;
  if (is_small(model_.plan_, sentence.length)) options.limits.ratio = 0;
  prepare(sentence, options);
  widen(options.limits);
  double rest = -kNever<double>;  // no tree over other arcs scores more
  if (model_.coarse_ && !is_whole()) {
    FoundTree best;
    search_all(options, best);
    rest = admissible_.rest();
  }
  fill_tables();
  syntax::RankedTrees ranked = search_.rank(arcs_, tables_.view(), options.kind, k);
  if (static_cast<Index>(ranked.scores.size()) < k && ranked.exhausted && !is_whole() && arcs_.words() <= kFewWords) {
    arcs_.assign_all(arcs_.words());  // there are more trees
    fill_tables();
    ranked = search_.rank(arcs_, tables_.view(), options.kind, k);
  }
  *exhausted = is_whole() && ranked.exhausted;
  out.resize(ranked.scores.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    FoundTree& tree = out[i].tree;
    tree.exists = true;
    const auto first = ranked.arcs.begin() + static_cast<Index>(i) * arcs_.words();
    tree.arc_of.assign(first, first + arcs_.words());
    tree.score = syntax::score_tree(arcs_, tables_.view(), tree.arc_of.data());
    tree.proven = ranked.bounds[i] <= ranked.scores[i];
    tree.bound = tree.proven ? tree.score : ranked.bounds[i];
    out[i].bound = is_whole() ? tree.bound : std::max(tree.bound, rest);
    name(sentence, out[i]);
  }
}

void ArcModel::Worker::fill_tables() {
  const auto wanted = [&](ArcPart part, Index size) { return model_.plan_.has(part) ? size : 0; };
  // PartTables::refine() has a score for each grandparent with siblings, where any part has a grandparent.
  const bool refined = model_.coarse_ && model_.plan_.has(ArcPart::grandparent);
  if (wanted(ArcPart::sibling, arcs_.siblings()) + wanted(ArcPart::grandparent, arcs_.grandparents()) +
          (refined ? arcs_.grandsiblings() : wanted(ArcPart::grand_sibling, arcs_.grandsiblings())) >
      kMostParts)
    throw std::length_error("too many parts");
  if (model_.coarse_) {
    score_fine(arcs_);
    tables_.fill_others(parts_, model_.plan_, arcs_);
    for (std::vector<double>* table : {&coarse_, &tables_.arcs}) table->resize(static_cast<std::size_t>(arcs_.size()));
    tables_.relation.resize(coarse_.size());
    for (Index a = 0; a < arcs_.size(); ++a) {
      const Index cell = (arcs_.modifier(a) - 1) * (arcs_.words() + 1) + arcs_.head(a);
      coarse_[a] = find_prior(arcs_.head(a), arcs_.modifier(a));
      tables_.arcs[a] = fine_[cell];
      tables_.relation[a] = fine_relation_[cell];
    }
    return tables_.refine(model_.plan_, arcs_, coarse_.data(), nullptr, find_cap());
  }
  tables_.fill(parts_, model_.plan_, arcs_, cost_nothing);
  for (Index a = 0; model_.has_prior() && a < arcs_.size(); ++a)
    tables_.arcs[a] += find_prior(arcs_.head(a), arcs_.modifier(a));
}

void ArcModel::Worker::score_all(const features::Sentence& sentence, double* scores, Label* relations) {
  const Index n = sentence.length;
  if (model_.has_prior()) score_heads(sentence);
  model_.plan_.look_up(sentence, words_);
  parts_.prepare(words_);
  arcs_.assign_all(n);
  std::vector<double> best(static_cast<std::size_t>(arcs_.size()));
  std::vector<Label> named(best.size());
  parts_.score_arcs(arcs_, cost_nothing, best.data(), named.data());
  std::fill_n(scores, n * (n + 1), kNever<double>);
  std::fill_n(relations, n * (n + 1), Label{-1});
  for (Index a = 0; a < arcs_.size(); ++a) {
    const Index cell = (arcs_.modifier(a) - 1) * (n + 1) + arcs_.head(a);
    scores[cell] = add_prior(best[a], arcs_.head(a), arcs_.modifier(a)) * model_.weights_.step;
    relations[cell] = named[a];
  }
}

void ArcModel::Worker::score_parts(const features::Sentence& sentence, const ParsingOptions& options) {
  prepare(sentence, options);
  fill_tables();
}

double ArcModel::Worker::score_tree(const features::Sentence& sentence, const Label* heads) {
  const Index n = sentence.length;
  if (model_.has_prior()) score_heads(sentence);
  model_.plan_.look_up(sentence, words_);
  parts_.prepare(words_);
  Places places;
  double total = 0;
  const auto add = [&](ArcPart part, const auto& find) {
    if (!model_.plan_.has(part)) return 0.0;
    places.clear();
    find(parts_.keys(part));
    return static_cast<double>(add_weights(model_.weights_.weights, places.bare));
  };
  const auto score_arc = [&](Index h, Index m) {
    const double bare = add(ArcPart::arc, [&](const ArcKeys& keys) { keys.arc(h, m, places); });
    const std::int32_t* scores = parts_.score_relations(h, m);
    double best = kNever<double>;
    for (Index r = 0; r < model_.relations_.count; ++r)
      if (model_.relations_.allows(h, r)) best = std::max<double>(best, scores[r]);
    return bare + best;
  };
  visit_siblings(heads, n, [&](Index h, Index m, Index s, Index g) {
    double arc = m <= n ? score_arc(h, m) : 0;
    double part = add(ArcPart::sibling, [&](const ArcKeys& keys) { keys.sibling(h, m, s, places); });
    part += add(ArcPart::grand_sibling, [&](const ArcKeys& keys) { keys.grand_sibling(g, h, m, s, places); });
    if (m <= n) part += add(ArcPart::grandparent, [&](const ArcKeys& keys) { keys.grandparent(g, h, m, places); });
    if (model_.coarse_) arc = std::min(arc, find_cap()), part = std::min(part, 0.0);
    total += arc + part + (m <= n ? find_prior(h, m) : 0);
  });
  return total * model_.weights_.step;
}

void ArcModel::Worker::search(const features::Sentence& sentence, const ParsingOptions& options, ParsedTree& out) {
  fill_tables();
  search_.find(arcs_, tables_.view(), options.kind, out.tree);
  name(sentence, out);
}

// The heads and relations of the arcs of a tree.
void ArcModel::Worker::name(const features::Sentence& sentence, ParsedTree& out) {
  out.candidates = arcs_.size();
  out.heads.clear();
  out.relations.clear();
  if (!out.tree.exists) return;
  for (const Label arc : out.tree.arc_of) {
    out.heads.push_back(arcs_.head(arc));
    out.relations.push_back(tables_.relation[arc]);
  }
  if (labels_) choose_relations(sentence, out);
}

// The features of a word are found while the weights of the one before it come from memory.
void ArcModel::Worker::choose_relations(const features::Sentence& sentence, ParsedTree& out) {
  model_.labels_->plan.look_up(sentence, label_words_);
  labels_->prepare(label_words_, out.heads.data());
  const auto find = [&](Index m) {
    if (m > sentence.length) return;
    label_places_[m % 2].clear();
    labels_->find(m, label_places_[m % 2]);
    labels_->prefetch(label_places_[m % 2]);
  };
  find(1);
  for (Index m = 1; m <= sentence.length; ++m) {
    find(m + 1);
    const Label chosen = labels_->choose(m, labels_->score(label_places_[m % 2]));
    if (chosen >= 0) out.relations[m - 1] = chosen;
  }
}

}  // namespace certus::scoring
