#include "syntax/dependency/nonprojective.hpp"

#include <algorithm>
#include <cmath>

#include "base/conclusion.hpp"
#include "base/rounding.hpp"
#include "relax/spanning_tree.hpp"

namespace certus::syntax {
namespace {

constexpr double kSplit = 0.001;  // b: what the tree has of the scores of arcs
constexpr Index kRootIterations = 80, kIterations = 40;
constexpr Index kPatience = 4;  // iterations without a lower bound before steps get shorter
constexpr Index kFixEvery = 8;
constexpr Index kClimbs = 1, kClimbEvery = 20;  // the first tree is climbed from, and then one of so many

template <class S>
void widen(const S* scores, Index count, std::vector<double>& out) {
  out.clear();
  if (scores) out.assign(scores, scores + count);
}

}  // namespace

template <class S>
DualResult NonProjectiveTrees::decode(const Arcs& arcs, const TreeScores<S>& scores, const DualOptions& options,
                                      Label* arc_of) {
  arcs_ = &arcs;
  n_ = arcs.words();
  widen(scores.arcs, arcs.size(), own_.arcs);
  widen(scores.siblings, arcs.siblings(), own_.siblings);
  widen(scores.grandparents, arcs.grandparents(), own_.grandparents);
  widen(scores.grandsiblings, arcs.grandsiblings(), own_.grandsiblings);
  options_ = options;
  result_ = {};
  return run(arc_of);
}

template DualResult NonProjectiveTrees::decode(const Arcs&, const TreeScores<float>&, const DualOptions&, Label*);
template DualResult NonProjectiveTrees::decode(const Arcs&, const TreeScores<double>&, const DualOptions&, Label*);

DualResult NonProjectiveTrees::run(Label* arc_of) {
  relax::Watch watch(options_.seconds);
  watch_ = &watch;
  best_ = arc_of;
  const bool plain = n_ == 0 || (own_.siblings.empty() && own_.grandparents.empty() && own_.grandsiblings.empty());
  double scale = plain ? 0 : own_.measure_scale(*arcs_);
  tolerance_ = own_.find_allowance(scale);
  climbs_ = others_ = 0;
  try {
    solve(plain);
    while (result_.score != kNever<double> && scale > kMixed * std::abs(result_.score)) {
      reduce_scores(*arcs_, result_.score, tolerance_, own_);
      const double before = scale;
      scale = own_.measure_scale(*arcs_);
      if (2 * scale > before) break;
      tolerance_ = own_.find_allowance(scale);
      solve(plain);
    }
  } catch (const relax::TimeIsUp&) {
    result_.end = DualEnd::seconds;
    const double others = open_.empty() ? kNever<double> : open_.front().bound;
    result_.bound = std::min(result_.bound, std::max({here_, others, result_.score}) + tolerance_);
  }
  if (result_.end == DualEnd::seconds && result_.score == kNever<double> && !find_any()) return result_;
  if (result_.end == DualEnd::seconds && result_.score != kNever<double>)
    tolerance_ = std::min(tolerance_, kRounding * kMixed * std::abs(result_.score));
  // The bound has the tolerance in it already: this is what closes() asks.
  const Conclusion conclusion = conclude(result_.score, result_.bound, 2 * tolerance_);
  if (conclusion.status != Status::feasible) result_.end = DualEnd::proven;
  result_.bound = conclusion.bound;
  result_.found = result_.found || result_.score != kNever<double>;
  return result_;
}

// Finds the best tree by its arcs alone, where no other was found in time. False: there is no tree.
bool NonProjectiveTrees::find_any() {
  const Index N = n_ + 1;
  dense_.assign(static_cast<std::size_t>(n_ * N), kNever<double>);
  heads_.resize(static_cast<std::size_t>(n_));
  for (Index a = 0; a < arcs_->size(); ++a) dense_[(arcs_->modifier(a) - 1) * N + arcs_->head(a)] = own_.arcs[a];
  result_.found = relax::spanning_tree(dense_.data(), n_, options_.single_root, heads_.data());
  if (!result_.found) {
    result_.end = DualEnd::proven;
    return false;
  }
  for (Index m = 1; m <= n_; ++m) best_[m - 1] = arcs_->find(heads_[m - 1], m);
  result_.score = score_tree(*arcs_, scores_, best_);
  return true;
}

// Searches all trees that the scores allow; what is not seen scores no more than the bound.
void NonProjectiveTrees::solve(bool plain) {
  scores_ = own_.view();
  here_ = result_.bound;
  last_tree_.clear();
  open_.clear();
  Node root;
  for (Index a = 0; a < arcs_->size(); ++a)
    if (own_.arcs[a] != kNever<double>) root.id.push_back(static_cast<Label>(a));
  root.u.assign(root.id.size(), 0);
  root.v.assign(root.id.size(), 0);
  root.bound = result_.bound;
  if (options_.paper_iterations == 0) even_out(root);
  open_.push_back(std::move(root));
  if (plain) span();
  else if (options_.paper_iterations > 0) search_by_paper();
  else search();
}

// Sets multipliers so that an arc is worth the same to all that use it. By itself it is worth what it scores more than
// the middle between the best and the second best arc into its word: few automata then want another than the tree does.
void NonProjectiveTrees::even_out(Node& root) {
  std::vector<double> best(n_ + 1, kNever<double>), second = best;
  for (const Label id : root.id) {
    const Label m = arcs_->modifier(id);
    second[m] = std::max(second[m], std::min(best[m], own_.arcs[id]));
    best[m] = std::max(best[m], own_.arcs[id]);
  }
  const double share = scores_.has_parents() ? 1.0 / 3 : 1.0 / 2;
  for (std::size_t a = 0; a < root.id.size(); ++a) {
    const Label id = root.id[a], m = arcs_->modifier(id);
    const double middle = second[m] == kNever<double> ? 0 : (best[m] + second[m]) / 2;
    const double worth = share * (own_.arcs[id] - middle);
    root.u[a] = (1 - kSplit) * own_.arcs[id] - worth;
    if (scores_.has_parents()) root.v[a] = -worth;
  }
}

void NonProjectiveTrees::load(const Node& node) {
  live_.id = node.id;
  u_ = node.u;
  v_ = node.v;
  assign_live();
}

// Lays out all that goes by live arcs, after live_.id, u_ and v_ were set.
void NonProjectiveTrees::assign_live() {
  const Index count = static_cast<Index>(live_.id.size()), N = n_ + 1;
  live_.place.assign(arcs_->size(), -1);
  live_.required.assign(count, 0);
  cell_.assign(n_ * N, -1);
  dense_.assign(n_ * N, kNever<double>);
  scratch_.assign(N, 0);
  for (Index a = 0; a < count; ++a) {
    live_.place[live_.id[a]] = static_cast<Label>(a);
    ++scratch_[arcs_->modifier(live_.id[a])];
  }
  tree_weight_.resize(count);
  weight_.resize(count);
  parent_weight_.resize(count);
  for (Index a = 0; a < count; ++a) {
    const Label id = live_.id[a];
    const Index cell = (arcs_->modifier(id) - 1) * N + arcs_->head(id);
    live_.required[a] = scratch_[arcs_->modifier(id)] == 1;
    cell_[cell] = static_cast<Label>(a);
    tree_weight_[a] = kSplit * own_.arcs[id] + u_[a] + v_[a];
    weight_[a] = (1 - kSplit) * own_.arcs[id] - u_[a];
    parent_weight_[a] = -v_[a];
    dense_[cell] = tree_weight_[a];
  }
  automata_.resize(N);
  chosen_.resize(N);
  for (Index h = 0; h < N; ++h) {
    automata_[h].assign(*arcs_, scores_, h, live_);
    chosen_[h].clear();
  }
  parent_chosen_.assign(N, -1);
  value_.assign(N, 0);
  dirty_.assign(N, 1);
  in_tree_.assign(count, 0);
  picked_.assign(count, 0);
  hung_.assign(count, 0);
  mean_.assign(count, 0);
  samples_ = 0;
  heads_.resize(n_);
  tree_.assign(n_, -1);
  lowest_ = -kNever<double>;
}

NonProjectiveTrees::Node NonProjectiveTrees::save(double bound) const {
  return {live_.id, lowest_u_, lowest_v_, bound};
}

bool NonProjectiveTrees::evaluate_tree() {
  if (!relax::spanning_tree(dense_.data(), n_, options_.single_root, heads_.data())) return false;
  for (const Label a : tree_)
    if (a >= 0) in_tree_[a] = 0;
  tree_value_ = 0;
  for (Index i = 0; i < n_; ++i) {
    tree_[i] = cell_[i * (n_ + 1) + heads_[i]];
    in_tree_[tree_[i]] = 1;
    tree_value_ += tree_weight_[tree_[i]];
  }
  return true;
}

void NonProjectiveTrees::evaluate_automaton(Index h) {
  for (const Label a : chosen_[h]) picked_[a] = 0;
  if (parent_chosen_[h] >= 0) hung_[parent_chosen_[h]] = 0;
  value_[h] = automata_[h].maximize(weight_.data(), parent_weight_.data());
  chosen_[h].clear();
  parent_chosen_[h] = -1;
  if (value_[h] == kNever<double>) return;
  automata_[h].list_chosen(chosen_[h], &parent_chosen_[h]);
  for (const Label a : chosen_[h]) picked_[a] = 1;
  if (parent_chosen_[h] >= 0) hung_[parent_chosen_[h]] = 1;
  dirty_[h] = 0;
}

bool NonProjectiveTrees::evaluate() {
  Index work = n_ * n_;
  if (!evaluate_tree()) return false;
  bound_ = tree_value_;
  scale_ = std::abs(tree_value_);
  result_.automata += n_ + 1;
  for (Index h = 0; h <= n_; ++h) {
    if (dirty_[h]) {
      evaluate_automaton(h);
      ++result_.solved;
      work += 4 * n_;
    }
    if (value_[h] == kNever<double>) return false;
    bound_ += value_[h];
    scale_ += std::abs(value_[h]);
  }
  ++result_.iterations;
  norm_ = 0;
  const bool parents = scores_.has_parents();
  for (std::size_t a = 0; a < live_.id.size(); ++a) {
    norm_ += in_tree_[a] != picked_[a];
    if (parents && arcs_->modifier(live_.id[a]) > 0) norm_ += in_tree_[a] != hung_[a];
    mean_[a] += in_tree_[a] + picked_[a];
  }
  ++samples_;
  here_ = std::min(here_, bound_);
  if (bound_ < lowest_) {
    lowest_ = bound_;
    lowest_u_ = u_;
    lowest_v_ = v_;
  }
  (*watch_)(work + 4 * static_cast<Index>(live_.id.size()));  // after the bound: a search without time has one, too
  return true;
}

void NonProjectiveTrees::step(double size) {
  const bool parents = scores_.has_parents();
  for (std::size_t a = 0; a < live_.id.size(); ++a) {
    const int u = in_tree_[a] - picked_[a], v = parents ? in_tree_[a] - hung_[a] : 0;
    if (u == 0 && v == 0) continue;
    const Label id = live_.id[a], h = arcs_->head(id), m = arcs_->modifier(id);
    if (u != 0) u_[a] -= size * u, weight_[a] += size * u, dirty_[h] = 1;
    if (v != 0) v_[a] -= size * v, parent_weight_[a] += size * v, dirty_[m] = 1;
    tree_weight_[a] -= size * (u + v);
    dense_[(m - 1) * (n_ + 1) + h] = tree_weight_[a];
  }
}

void NonProjectiveTrees::offer(const Label* arc_of, bool climb) {
  scratch_.assign(arc_of, arc_of + n_);
  const double score = climb ? climb_.improve(*arcs_, scores_, options_.single_root, scratch_.data())
                             : score_tree(*arcs_, scores_, scratch_.data());
  if (score > result_.score) {
    result_.score = score;
    std::copy(scratch_.begin(), scratch_.end(), best_);
  }
}

// The tree of the last evaluation, if it is another than before.
void NonProjectiveTrees::offer_tree() {
  std::vector<Label> arc_of(n_);
  for (Index i = 0; i < n_; ++i) arc_of[i] = live_.id[tree_[i]];
  if (arc_of == last_tree_) return;
  last_tree_ = arc_of;
  const bool climb = !agree() && (climbs_ < kClimbs || ++others_ >= kClimbEvery);
  if (climb) ++climbs_, others_ = 0;
  offer(arc_of.data(), climb);
}

bool NonProjectiveTrees::drop(const std::vector<std::uint8_t>& dropped) {
  Index kept = 0;
  for (std::size_t a = 0; a < live_.id.size(); ++a) {
    if (dropped[a]) continue;
    live_.id[kept] = live_.id[a];
    u_[kept] = u_[a];
    v_[kept++] = v_[a];
  }
  result_.fixed += static_cast<Index>(live_.id.size()) - kept;
  live_.id.resize(kept);
  u_.resize(kept);
  v_.resize(kept);
  assign_live();
  return kept >= n_;
}

// With an arc on, the tree loses its reduced cost, the automaton of its head what the arc costs it, that of its
// modifier what the parent costs it; and all other arcs into its modifier are off.
bool NonProjectiveTrees::fix(bool* changed) {
  const Index count = static_cast<Index>(live_.id.size()), N = n_ + 1;
  *changed = false;
  tree_bound_.resize(n_ * N);
  if (!relax::bound_trees(dense_.data(), n_, options_.single_root, heads_.data(), tree_bound_.data())) return false;
  with_.resize(count);
  without_.resize(count);
  parent_with_.resize(count);
  for (Index h = 0; h < N; ++h)
    automata_[h].max_marginals(weight_.data(), parent_weight_.data(), with_.data(), without_.data(),
                               parent_with_.data());
  loss_.assign(N, 0);  // of all arcs into a word being off
  for (Index a = 0; a < count; ++a) {
    const Label id = live_.id[a];
    loss_[arcs_->modifier(id)] += value_[arcs_->head(id)] - without_[a];
  }
  std::vector<std::uint8_t> dropped(count, 0);
  const double room = bound_ - result_.score - tolerance_;
  for (Index a = 0; a < count; ++a) {
    const Label id = live_.id[a], h = arcs_->head(id), m = arcs_->modifier(id);
    double loss = tree_value_ - tree_bound_[(m - 1) * N + h] + value_[h] - with_[a];
    if (!live_.required[a]) loss += loss_[m] - (value_[h] - without_[a]);
    if (automata_[m].has_parents()) loss += value_[m] - parent_with_[a];
    if (loss >= room) dropped[a] = 1, *changed = true;
  }
  (*watch_)(4 * n_ * n_ + 16 * count);
  return !*changed || drop(dropped);
}

NonProjectiveTrees::Verdict NonProjectiveTrees::bound_node(Index most) {
  double share = 1, since_fix = -kNever<double>;
  Index stalled = 0, last_fix = 0;
  for (Index round = 0; round < most; ++round) {
    const double before = lowest_;
    if (!evaluate()) return Verdict::closed;
    offer_tree();
    if (closes(bound_)) return Verdict::closed;
    if (agree()) break;  // bound and score differ by rounding alone, if by more than is allowed for
    const double gap = lowest_ - result_.score;
    if (round - last_fix >= kFixEvery && gap < 0.7 * since_fix) {
      bool changed = false;
      since_fix = gap;
      last_fix = round;
      if (!fix(&changed)) return Verdict::closed;
      if (changed) continue;
    }
    if (bound_ < before - (gap < scale_ ? 0.01 * gap : 0)) stalled = 0;
    else if (++stalled >= kPatience) share *= 0.6, stalled = 0;
    if (share < 1e-3) break;
    const bool known = result_.score != kNever<double>;
    step(share * (known ? bound_ - result_.score : 0.1 * choose_scale()) / norm_);
  }
  return Verdict::open;
}

Label NonProjectiveTrees::choose_arc() const {
  Label chosen = -1;
  double most = -1;
  for (std::size_t a = 0; a < live_.id.size(); ++a) {
    if (live_.required[a]) continue;
    const double mean = mean_[a] / (2.0 * static_cast<double>(std::max<Index>(samples_, 1)));
    const double doubt = std::min(mean, 1 - mean) + (in_tree_[a] != picked_[a] ? 1e-3 : 0);
    if (doubt > most) most = doubt, chosen = static_cast<Label>(a);
  }
  return chosen;
}

void NonProjectiveTrees::search() {
  const auto lower = [](const Node& a, const Node& b) { return a.bound < b.bound; };
  const Index before = result_.nodes;
  while (!open_.empty()) {
    std::pop_heap(open_.begin(), open_.end(), lower);
    const Node node = std::move(open_.back());
    open_.pop_back();
    result_.bound = std::max(node.bound, result_.score) + tolerance_;
    if (closes(node.bound)) break;
    if (result_.nodes++ >= options_.nodes) {
      result_.end = DualEnd::nodes;
      return;
    }
    here_ = node.bound;
    load(node);
    if (bound_node(result_.nodes == before + 1 ? kRootIterations : kIterations) == Verdict::closed) continue;
    if (lowest_ == -kNever<double> && !evaluate()) continue;
    const double bound = here_;
    const Label arc = choose_arc();
    if (arc < 0) continue;
    const Label word = arcs_->modifier(live_.id[arc]);
    const Node whole = save(bound);
    for (const bool on : {false, true}) {
      Node child{.bound = bound};
      for (std::size_t a = 0; a < whole.id.size(); ++a) {
        const bool same = static_cast<Label>(a) == arc;
        if (on ? !same && arcs_->modifier(whole.id[a]) == word : same) continue;
        child.id.push_back(whole.id[a]);
        child.u.push_back(whole.u[a]);
        child.v.push_back(whole.v[a]);
      }
      open_.push_back(std::move(child));
      std::push_heap(open_.begin(), open_.end(), lower);
    }
  }
  result_.bound = result_.score == kNever<double> ? result_.score : result_.score + tolerance_;
}

// Arcs alone: the best spanning tree is the answer.
void NonProjectiveTrees::span() {
  load(open_.front());
  for (std::size_t a = 0; a < live_.id.size(); ++a) {
    const Label id = live_.id[a];
    dense_[(arcs_->modifier(id) - 1) * (n_ + 1) + arcs_->head(id)] = own_.arcs[id];
  }
  if (evaluate_tree()) {
    for (Index i = 0; i < n_; ++i) best_[i] = live_.id[tree_[i]];
    result_.score = score_tree(*arcs_, scores_, best_);
  }
  result_.bound = result_.score;
}

// Figures 1 and 2 of the paper, with the step sizes of its appendix: d / (1 + number of times the dual went up).
void NonProjectiveTrees::search_by_paper() {
  load(open_.front());
  double first = 0, last = -kNever<double>;
  Index rises = 0;
  result_.end = DualEnd::iterations;
  for (Index k = 0; k < options_.paper_iterations; ++k) {
    if (!evaluate()) {
      result_.bound = result_.score;
      return;
    }
    result_.bound = std::min(result_.bound, bound_ + tolerance_);
    for (Index i = 0; i < n_; ++i) heads_[i] = live_.id[tree_[i]];
    std::vector<Label> arc_of(heads_.begin(), heads_.end());
    if (arc_of != last_tree_ || k == 0) offer(arc_of.data(), false), last_tree_ = arc_of;
    if (agree()) {
      result_.bound = std::max(result_.bound, result_.score + tolerance_);
      return;
    }
    if (k == 0) first = result_.score == kNever<double> ? choose_scale() : bound_ - result_.score;
    rises += k > 0 && bound_ > last;
    last = bound_;
    step(first / static_cast<double>(1 + rises));
  }
}

}  // namespace certus::syntax
