#include "scoring/pruning_pass.hpp"

#include <algorithm>
#include <cmath>

namespace certus::scoring {

using syntax::Vine;

void PruningPass::assign(ArcGrid& grid) {
  if (!options_.has_outer()) return grid.list(arcs_);
  grid.list(options_.reach, arcs_);
  find_outer_arcs(grid);
}

Index PruningPass::outer_head(Index head, Index modifier) const {
  return arcs_.size() + Vine::outer(modifier, head < modifier ? Vine::head_left : Vine::head_right);
}

Index PruningPass::outer_modifiers(Index head, Index modifier) const {
  return arcs_.size() + Vine::outer(head, head < modifier ? Vine::modifiers_right : Vine::modifiers_left);
}

// Those that stand for an open arc.
void PruningPass::find_outer_arcs(const ArcGrid& grid) {
  const Index n = grid.words();
  outer_.assign(static_cast<std::size_t>(Vine::count_outer(n)), 0);
  const auto add = [&](Index h, Index m) {
    if (!grid.is_open(h, m)) return;
    outer_[outer_head(h, m) - arcs_.size()] = outer_[outer_modifiers(h, m) - arcs_.size()] = 1;
  };
  for (Index h = 1; h <= n; ++h) {
    for (Index m = 1; m < h - options_.reach; ++m) add(h, m);
    for (Index m = h + options_.reach + 1; m <= n; ++m) add(h, m);
  }
}

void PruningPass::find_part(const PassKeys& keys, Index part, features::Places& out) const {
  if (part < arcs_.size()) return keys.arcs.arc(arcs_.head(part), arcs_.modifier(part), out);
  const Index word = (part - arcs_.size()) / 4 + 1;
  const auto kind = static_cast<Vine::Outer>((part - arcs_.size()) % 4);
  const bool to_right = kind == Vine::head_right || kind == Vine::modifiers_right;
  const Index border = to_right ? word + options_.reach : word - options_.reach;
  if (kind == Vine::head_left || kind == Vine::head_right) keys.arcs.outer_head(word, to_right, border, out);
  else keys.arcs.outer_modifiers(word, to_right, border, out);
}

void PruningPass::find_siblings(const PassKeys& keys, Index side, Index previous, Index next,
                                features::Places& out) const {
  const Index none = arcs_.words() + 1, k = arcs_.candidates(side);
  const Index s = previous == 0 ? none : Index{arcs_.modifier(arcs_.candidate(side, previous - 1))};
  const Index m = next == k ? none : Index{arcs_.modifier(arcs_.candidate(side, next))};
  keys.siblings.sibling(side / 2, m, s, out);
}

bool PruningPass::evaluate() {
  values_.assign(scores_.size(), kNever<double>);
  if (options_.needs_projective() ? !evaluate_program() : !evaluate_words()) return false;
  if (options_.posterior) return true;
  mean_ = 0;
  count_ = 0;
  for (const double value : values_)
    if (value != kNever<double>) mean_ += value, ++count_;
  mean_ = count_ > 0 ? mean_ / static_cast<double>(count_) : 0;
  return true;
}

bool PruningPass::evaluate_program() {
  const double* scores = scores_.data();
  const bool has_vine = options_.kind == PassKind::vine;
  if (has_vine) {
    if (!vine_.build(arcs_, scores, scores + arcs_.size(), options_.reach)) return false;
    if (options_.posterior) vine_.marginals(values_.data());
    else best_ = vine_.max_marginals(values_.data());
    return true;
  }
  syntax::TreeScores<double> all{scores};
  if (!siblings_.empty()) all.siblings = siblings_.data();
  if (!trees_.build(arcs_, all, options_.single_root)) return false;
  if (!options_.posterior) {
    best_ = trees_.max_marginals(values_.data());
    return true;
  }
  sibling_changes_.assign(siblings_.size(), 0);  // for differentiate()
  trees_.program().marginals(arcs_.size(), values_.data(), siblings_.empty() ? nullptr : sibling_changes_.data());
  return true;
}

// The parts that a word chooses its head from.
template <class Visit>
void PruningPass::visit_heads(Index word, const Visit& visit) const {
  for (Label i = arcs_.into_begin(word); i < arcs_.into_begin(word + 1); ++i) visit(Index{arcs_.into(i)});
  if (!options_.has_outer()) return;
  for (const Vine::Outer kind : {Vine::head_left, Vine::head_right}) {
    const Index part = arcs_.size() + Vine::outer(word, kind);
    if (exists(part)) visit(part);
  }
}

// Every word for itself. Parts that may be left out, outer modifiers, score at least 0.
bool PruningPass::evaluate_words() {
  best_ = 0;
  for (Index m = 1; m <= arcs_.words(); ++m) {
    double most = kNever<double>, sum = 0;
    visit_heads(m, [&](Index p) { most = std::max(most, scores_[p]); });
    if (most == kNever<double>) return false;
    best_ += most;
    visit_heads(m, [&](Index p) { sum += std::exp(values_[p] = scores_[p] - most); });
    if (options_.posterior) visit_heads(m, [&](Index p) { values_[p] = std::exp(values_[p]) / sum; });
  }
  for (Index p = arcs_.size(); p < parts(); ++p) {
    const Index kind = (p - arcs_.size()) % 4;
    if (!exists(p) || kind == Vine::head_left || kind == Vine::head_right) continue;
    best_ += std::max(0.0, scores_[p]);
    values_[p] = options_.posterior ? 1 / (1 + std::exp(-scores_[p])) : std::min(0.0, scores_[p]);
  }
  if (!options_.posterior)
    for (double& value : values_) value += best_;
  return true;
}

void PruningPass::close(double at, ArcGrid& grid) const {
  const double least = options_.posterior ? at : at * best_ + (1 - at) * mean_;
  for (Index a = 0; a < arcs_.size(); ++a)
    if (!(values_[a] >= least)) grid.close(arcs_.head(a), arcs_.modifier(a));
  if (!options_.has_outer()) return;
  const Index n = grid.words();
  const auto try_arc = [&](Index h, Index m) {
    if (!(values_[outer_modifiers(h, m)] >= least) || !(values_[outer_head(h, m)] >= least)) grid.close(h, m);
  };
  for (Index h = 1; h <= n; ++h) {
    for (Index m = 1; m < h - options_.reach; ++m) try_arc(h, m);
    for (Index m = h + options_.reach + 1; m <= n; ++m) try_arc(h, m);
  }
}

// The places of pairs of neighbours in a tree.
template <class Has, class Use>
void PruningPass::visit_siblings(const Has& has, const Use& use) const {
  for (Index side = 0; side < arcs_.sides(); ++side) {
    const Index k = arcs_.candidates(side);
    Index previous = 0;
    for (Index i = 0; i < k; ++i) {
      if (!has(arcs_.candidate(side, i))) continue;
      use(arcs_.sibling(side, previous, i));
      previous = i + 1;
    }
    use(arcs_.sibling(side, previous, k));
  }
}

void PruningPass::list_tree(const Label* heads, std::vector<Label>& parts, std::vector<Label>& siblings) const {
  parts.clear();
  siblings.clear();
  for (Index m = 1; m <= arcs_.words(); ++m) {
    const Index h = heads[m - 1];
    if (is_long(h, m)) {
      parts.push_back(static_cast<Label>(outer_head(h, m)));
      parts.push_back(static_cast<Label>(outer_modifiers(h, m)));
    } else if (const Label arc = arcs_.find(h, m); arc >= 0) {
      parts.push_back(arc);
    }
  }
  std::sort(parts.begin(), parts.end());  // words with several outer modifiers have one part for them
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::erase_if(parts, [&](Label p) { return p >= arcs_.size() && !outer_[p - arcs_.size()]; });
  if (options_.kind != PassKind::second) return;
  visit_siblings([&](Label arc) { return heads[arcs_.modifier(arc) - 1] == arcs_.head(arc); },
                 [&](Index place) { siblings.push_back(static_cast<Label>(place)); });
}

double PruningPass::find_highest(Index head, Index modifier) const {
  const double least = is_long(head, modifier)
                           ? std::min(values_[outer_head(head, modifier)], values_[outer_modifiers(head, modifier)])
                           : values_[arcs_.find(head, modifier)];
  if (options_.posterior) return least;
  return best_ > mean_ ? (least - mean_) / (best_ - mean_) : least >= mean_ ? 1 : kNever<double>;
}

bool PruningPass::differentiate(double at, const std::vector<Label>& parts, const std::vector<Label>& siblings) {
  part_changes_.assign(scores_.size(), 0);
  if (options_.posterior) {
    for (Index p = 0; p < this->parts(); ++p) part_changes_[p] = exists(p) ? -values_[p] : 0;
    for (double& change : sibling_changes_) change = -change;
  } else {
    double score = 0;
    for (const Label p : parts) score += scores_[p];
    for (const Label s : siblings) score += siblings_[s];
    if (score - 1 >= at * best_ + (1 - at) * mean_) return false;
    sibling_changes_.assign(siblings_.size(), 0);
    const double share = (1 - at) / static_cast<double>(count_);
    if (options_.needs_projective()) count_program(share);
    else count_words(share);
    for (const Label p : best_arcs_) part_changes_[p] -= at;
  }
  for (const Label p : parts) part_changes_[p] += 1;
  for (const Label s : siblings) sibling_changes_[s] += 1;
  return true;
}

// The best structure with a part differs from the best of all in the choice of one word.
void PruningPass::count_words(double share) {
  best_arcs_.clear();
  for (Index p = 0; p < parts(); ++p)
    if (exists(p)) part_changes_[p] -= share;
  for (Index m = 1; m <= arcs_.words(); ++m) {
    Index best = -1, own = 0;
    visit_heads(m, [&](Index p) {
      ++own;
      if (best < 0 || scores_[p] > scores_[best]) best = p;
    });
    best_arcs_.push_back(static_cast<Label>(best));
    part_changes_[best] -= share * static_cast<double>(count_ - own);
  }
  for (Index p = arcs_.size(); p < parts(); ++p) {
    const Index kind = (p - arcs_.size()) % 4;
    if (!exists(p) || kind == Vine::head_left || kind == Vine::head_right || scores_[p] <= 0) continue;
    best_arcs_.push_back(static_cast<Label>(p));
    part_changes_[p] -= share * static_cast<double>(count_ - 1);
  }
}

void PruningPass::count_program(double share) {
  counts_.assign(scores_.size(), 0);
  if (options_.kind == PassKind::vine) {
    vine_.count_max_marginal_trees(counts_.data());
    vine_.decode(best_arcs_);
  } else {
    trees_.program().count_max_marginal_trees(arcs_.size(), counts_.data(),
                                              siblings_.empty() ? nullptr : sibling_changes_.data());
    best_arcs_.resize(static_cast<std::size_t>(arcs_.words()));
    trees_.decode(best_arcs_.data());
  }
  for (Index p = 0; p < parts(); ++p) part_changes_[p] -= share * counts_[p];
  for (double& change : sibling_changes_) change *= -share;
  if (siblings_.empty()) return;
  const double at = 1 - share * static_cast<double>(count_);
  visit_siblings([&](Label arc) { return best_arcs_[arcs_.modifier(arc) - 1] == arc; },
                 [&](Index place) { sibling_changes_[place] -= at; });
}

}  // namespace certus::scoring
