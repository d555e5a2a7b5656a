#include "scoring/admissible_search.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/stopwatch.hpp"
#include "relax/spanning_tree.hpp"
#include "syntax/dependency/charged_arcs.hpp"

namespace certus::scoring {

using syntax::Arcs;
using syntax::TreeScores;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kMostBytes = Index{1} << 30;  // of the charts of a sentence
constexpr Index kMostCandidates = 40;         // of a word, on average, unless scores of all arcs are asked for

}  // namespace

void AdmissibleSearch::add_open(Arcs& candidates) {
  for (Index a = 0; a < candidates.size(); ++a)
    open_.emplace_back(static_cast<Label>(candidates.head(a)), static_cast<Label>(candidates.modifier(a)));
  std::sort(open_.begin(), open_.end());
  list_heads_.clear();
  list_modifiers_.clear();
  for (const auto& [head, modifier] : open_) {
    list_heads_.push_back(head);
    list_modifiers_.push_back(modifier);
  }
  candidates.assign(candidates.words(), list_heads_.data(), list_modifiers_.data(),
                    static_cast<Index>(list_heads_.size()));
}

bool AdmissibleSearch::add_tree(const double* bounds, double near, Arcs& candidates) {
  const Index n = candidates.words();
  open_.clear();
  for (Index m = 1; m <= n; ++m) {
    if (candidates.find(heads_[m - 1], m) >= 0) continue;
    const double* row = bounds + (m - 1) * (n + 1);
    for (Index h = 0; h <= n; ++h)
      if (h == heads_[m - 1] || (h != m && row[h] >= row[heads_[m - 1]] - near && candidates.find(h, m) < 0))
        open_.emplace_back(static_cast<Label>(h), static_cast<Label>(m));
  }
  if (open_.empty()) return false;
  add_open(candidates);
  return true;
}

void AdmissibleSearch::keep_tree(Arcs& candidates) {
  open_.clear();
  for (Index m = 1; m <= candidates.words(); ++m)
    open_.emplace_back(static_cast<Label>(heads_[m - 1]), static_cast<Label>(m));
  candidates.assign(candidates.words(), nullptr, nullptr, 0);
  add_open(candidates);
}

// `bound`: on all trees.
void AdmissibleSearch::take_tree(const Arcs& candidates, const TreeScores<double>& scores, double bound,
                                 FoundTree& found) {
  found.exists = true;
  for (Index m = 1; m <= candidates.words(); ++m) found.arc_of[m - 1] = candidates.find(heads_[m - 1], m);
  found.score = syntax::score_tree(candidates, scores, found.arc_of.data());
  found.bound = std::max(bound, found.score);
  found.proven = found.bound <= found.score;
  rest_ = found.bound;
}

// The best tree by bounds alone.
void AdmissibleSearch::find_first(const Score& score, const ArcBounds& bounds, const TreeKind& kind, Arcs& candidates,
                                  FoundTree& found) {
  const Index n = candidates.words();
  found.exists = kind.projective ? eisner_.decode(bounds.of_arcs, n, kind.single_root, heads_.data())
                                 : relax::spanning_tree(bounds.of_arcs, n, kind.single_root, heads_.data());
  if (!found.exists) return;
  double bound = 0;
  for (Index m = 1; m <= n; ++m) bound += bounds.of_arcs[(m - 1) * (n + 1) + heads_[m - 1]];
  add_tree(bounds.of_arcs, 0, candidates);
  try {
    take_tree(candidates, score(candidates), bound, found);
    found.in_time = found.proven;
  } catch (const std::length_error&) {
    keep_tree(candidates);
    take_tree(candidates, score(candidates), bound, found);
    found.proven = true;  // over its arcs alone
  }
}

void AdmissibleSearch::find(const Score& score, const ArcBounds& bounds, const TreeKind& kind, TreeSearch& search,
                            Arcs& candidates, FoundTree& found) {
  found.arc_of.resize(static_cast<std::size_t>(candidates.words()));
  found.iterations = found.nodes = found.automata = found.solved = 0;
  found.in_time = true;
  heads_.resize(found.arc_of.size());
  if (kind.seconds <= 0) {
    find_first(score, bounds, kind, candidates, found);
    if (!found.exists || found.score != kNever<double>) return;
    TreeKind unlimited = kind;  // that tree is forbidden: the first answer is the best one
    unlimited.seconds = kNoTimeLimit;
    return find(score, bounds, unlimited, search, candidates, found);
  }
  try {
    if (kind.projective) return find_projective(score, bounds, kind, search, candidates, found);
    const TreeScores<double> scores = score(candidates);
    if (!scores.has_siblings() && !scores.has_parents())
      return find_spanning(score, scores, bounds, kind, candidates, found);
    find_by_parts(score, scores, bounds, kind, search, candidates, found);
  } catch (const std::length_error&) {
    find_first(score, bounds, kind, candidates, found);
    if (found.exists && found.score == kNever<double>) throw;  // that tree is forbidden
  }
}

void AdmissibleSearch::find_projective(const Score& score, const ArcBounds& bounds, const TreeKind& kind,
                                       TreeSearch& search, Arcs& candidates, FoundTree& found) {
  const bool limited = kind.seconds < kNoTimeLimit;
  relax::Watch watch(kind.seconds);
  TreeScores<double> scores = score(candidates);
  if (syntax::PartlyScoredTrees::count_bytes(candidates, scores.has_parents()) > kMostBytes) {
    find_first(score, bounds, kind, candidates, found);  // candidates then hold a tree
    if (!found.exists || found.proven || (limited && found.score != kNever<double>)) return;
    search.find(candidates, score(candidates), kind, found);
    found.bound = std::max(found.score, rest_);
    return;
  }
  try {
    while (true) {
      found.exists = partly_.decode(candidates, scores, bounds.of_arcs, kind.single_root, limited ? &watch : nullptr,
                                    heads_.data());
      if (!found.exists) return;
      ++found.iterations;
      const Arcs before = candidates;
      if (!add_tree(bounds.of_arcs, bounds.near, candidates))
        return take_tree(candidates, scores, partly_.bound(), found);
      try {
        scores = score(candidates);
      } catch (const std::length_error&) {
        candidates = before;
        add_tree(bounds.of_arcs, 0, candidates);
        scores = score(candidates);
      }
    }
  } catch (const TimeIsUp&) {
  }
  TreeKind now = kind;
  now.seconds = 0;
  find(score, bounds, now, search, candidates, found);
}

void AdmissibleSearch::find_spanning(const Score& score, TreeScores<double> scores, const ArcBounds& bounds,
                                     const TreeKind& kind, Arcs& candidates, FoundTree& found) {
  const Index n = candidates.words(), N = n + 1;
  for (;; scores = score(candidates)) {
    dense_.assign(bounds.of_arcs, bounds.of_arcs + n * N);
    for (Index a = 0; a < candidates.size(); ++a)
      dense_[(candidates.modifier(a) - 1) * N + candidates.head(a)] = scores.arcs[a];
    found.exists = relax::spanning_tree(dense_.data(), n, kind.single_root, heads_.data());
    if (!found.exists) return;
    ++found.iterations;
    if (add_tree(bounds.of_arcs, bounds.near, candidates)) continue;
    take_tree(candidates, scores, kNever<double>, found);
    return;
  }
}

// With W the best that a candidate scores with its parts, or the bound of another arc, the dual of the best spanning
// tree under W has reduced costs c >= 0, so that the sum of W over any tree is at most its value less the reduced costs
// of the arcs. Beside arcs that are no candidates, candidates may score more than W, up to their bounds u: the next
// modifier of the head, and the modifiers of the modifier. A tree with others than candidates scores at most
//
//   value + sum over other arcs x of  - c(x) + max(0, max over next modifiers a of u(a) - W(a) - c(a))
//                                            + sum over arcs a of the modifier of max(0, u(a) - W(a) - c(a)).
double AdmissibleSearch::bound_arcs(const Arcs& candidates, const TreeScores<double>& scores, const ArcBounds& bounds,
                                    bool single_root, double score) {
  const Index n = candidates.words(), N = n + 1;
  dense_.assign(bounds.of_arcs, bounds.of_arcs + n * N);
  syntax::charge_arcs(candidates, scores, dense_.data());
  arc_bounds_.resize(dense_.size());
  open_.clear();
  rest_ = kNever<double>;
  if (!relax::bound_trees(dense_.data(), n, single_root, heads_.data(), arc_bounds_.data())) return kNever<double>;
  double value = 0;
  for (Index m = 1; m <= n; ++m) value += dense_[(m - 1) * N + heads_[m - 1]];
  const auto find_gain = [&](Label arc) {
    const Index cell = (candidates.modifier(arc) - 1) * N + candidates.head(arc);
    if (scores.arcs[arc] == kNever<double>) return 0.0;
    return std::max(0.0, bounds.of_arcs[cell] - dense_[cell] - (value - arc_bounds_[cell]));
  };
  below_.assign(static_cast<std::size_t>(N), 0);
  for (Label a = 0; scores.has_parents() && a < candidates.size(); ++a) below_[candidates.head(a)] += find_gain(a);
  double all = value;
  for (Index h = 0; h <= n; ++h)
    for (const bool right : {false, true}) {
      double next = 0;
      for (Index m = right ? n : 1; right ? m > h : m < h; m += right ? -1 : 1) {
        if (const Label arc = candidates.find(h, m); arc >= 0) {
          if (scores.has_siblings()) next = std::max(next, find_gain(arc));
          continue;
        }
        const double bound = arc_bounds_[(m - 1) * N + h] + next + below_[m];
        if (bound > value) all += bound - value;
        if (bound > score) open_.emplace_back(static_cast<Label>(h), static_cast<Label>(m));
        rest_ = std::max(rest_, bound);
      }
    }
  if (rest_ > value) rest_ = all;  // several other arcs may each gain
  return all;
}

void AdmissibleSearch::find_by_parts(const Score& score, TreeScores<double> scores, const ArcBounds& bounds,
                                     const TreeKind& kind, TreeSearch& search, Arcs& candidates, FoundTree& found) {
  const Stopwatch stopwatch;
  const Index n = candidates.words();
  double all = kInfinity;
  Index iterations = 0;
  for (;; scores = score(candidates)) {
    TreeKind rest = kind;
    rest.seconds = std::max(0.0, kind.seconds - stopwatch.elapsed());
    search.find(candidates, scores, rest, found);
    found.iterations = iterations += found.iterations;
    all = std::min(
        all, bound_arcs(candidates, scores, bounds, kind.single_root, found.exists ? found.score : kNever<double>));
    if (!found.exists && all != kNever<double> && found.in_time && add_tree(bounds.of_arcs, bounds.near, candidates))
      continue;
    const bool few = candidates.size() + static_cast<Index>(open_.size()) <= kMostCandidates * n;
    if (!found.exists || open_.empty() || !few || stopwatch.elapsed() >= kind.seconds) break;
    add_open(candidates);
  }
  if (!found.exists) return;
  found.bound = std::max(found.score, std::min(all, std::max(found.bound, rest_)));
  found.proven = found.bound <= found.score;
}

}  // namespace certus::scoring
