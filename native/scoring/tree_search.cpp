#include "scoring/tree_search.hpp"

#include <algorithm>

#include "base/stopwatch.hpp"
#include "relax/spanning_tree.hpp"

namespace certus::scoring {

void TreeSearch::find(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                      FoundTree& found) {
  found.arc_of.resize(static_cast<std::size_t>(arcs.words()));
  if (!kind.projective && (scores.has_siblings() || scores.has_parents()))
    return find_by_agreement(arcs, scores, kind, found);
  found.in_time = true;
  if (kind.projective) return find_projective(arcs, scores, kind, found);
  find_spanning_tree(arcs, scores, kind.single_root, found);
  found.proven = found.exists;
  if (found.exists) found.score = found.bound = syntax::score_tree(arcs, scores, found.arc_of.data());
}

// Where the time is over, or the program too large for it, what was charged to arcs gives a tree and a bound.
void TreeSearch::find_projective(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                 const TreeKind& kind, FoundTree& found) {
  const bool limited = kind.seconds < kNoTimeLimit;
  found.in_time = true;
  try {
    relax::Watch watch(kind.seconds);
    found.exists = projective_.build(arcs, scores, kind.single_root, limited ? &watch : nullptr);
    if (found.exists) projective_.decode(found.arc_of.data());
    found.proven = found.exists;
    if (found.exists) found.score = found.bound = syntax::score_tree(arcs, scores, found.arc_of.data());
    return;
  } catch (const TimeIsUp&) {
  } catch (const syntax::ProgramTooLarge&) {
    if (!limited) throw;
  }
  find_charged(arcs, scores, kind, found);
  if (!found.exists || found.score != kNever<double>) return;
  TreeKind unlimited = kind;  // that tree is forbidden: the first answer is the best one
  unlimited.seconds = kNoTimeLimit;
  find_projective(arcs, scores, unlimited, found);
}

void TreeSearch::find_charged(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                              FoundTree& found) {
  found.arc_of.resize(static_cast<std::size_t>(arcs.words()));
  found.exists = charged_.find(arcs, scores, kind.single_root, found.arc_of.data());
  found.in_time = !found.exists || charged_.bound() <= charged_.score();
  found.proven = found.exists && found.in_time;
  found.score = charged_.score();
  found.bound = charged_.bound();
}

void TreeSearch::find_by_agreement(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                   const TreeKind& kind, FoundTree& found) {
  syntax::DualOptions options;
  options.single_root = kind.single_root;
  options.seconds = kind.seconds;
  options.nodes = kind.nodes;
  options.paper_iterations = kind.paper_iterations;
  const syntax::DualResult result = others_.decode(arcs, scores, options, found.arc_of.data());
  found.exists = result.found;
  found.in_time = result.end == syntax::DualEnd::proven;
  found.proven = result.found && found.in_time;
  found.score = result.score;
  found.bound = found.proven ? result.score : result.bound;
  found.iterations = result.iterations;
  found.nodes = result.nodes;
  found.automata = result.automata;
  found.solved = result.solved;
}

syntax::RankedTrees TreeSearch::rank(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                     const TreeKind& kind, Index k) {
  if (!kind.projective) return split(arcs, scores, kind, k);
  const bool limited = kind.seconds < kNoTimeLimit;
  try {
    relax::Watch watch(kind.seconds);
    if (!projective_.build(arcs, scores, kind.single_root, limited ? &watch : nullptr)) return {};
    return syntax::rank_trees(arcs, projective_.program(), k, limited ? &watch : nullptr);
  } catch (const TimeIsUp&) {
  } catch (const syntax::ProgramTooLarge&) {
    if (!limited) throw;
  }
  FoundTree first;
  first.arc_of.resize(static_cast<std::size_t>(arcs.words()));
  TreeKind now = kind;
  now.seconds = 0;
  find_projective(arcs, scores, now, first);
  syntax::RankedTrees out;
  out.exhausted = false;
  if (!first.exists) return out;
  out.arcs = first.arc_of;
  out.scores.push_back(first.score);
  out.bounds.push_back(first.bound);
  return out;
}

namespace {

// Trees that have the same arcs into the first `fixed` words as `tree`, and none of `closed` into the next; `tree` is
// the best of them.
struct Share {
  FoundTree tree;
  Index fixed;
  std::vector<Label> closed;

  bool operator<(const Share& other) const { return tree.score < other.tree.score; }
};

}  // namespace

// Takes the best tree of all shares; what is left of its share differs from it at a first word (Lawler 1972).
syntax::RankedTrees TreeSearch::split(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                      const TreeKind& kind, Index k) {
  const Stopwatch stopwatch;
  const Index n = arcs.words();
  std::vector<double> weights;
  syntax::TreeScores<double> left = scores;
  std::vector<Share> queue;
  bool is_up = false;  // then shares are missing, and no further tree is known to be the next
  const auto find_best = [&](Share&& share) {
    weights.assign(scores.arcs, scores.arcs + arcs.size());
    for (Index m = 1; m <= share.fixed; ++m)
      for (Label i = arcs.into_begin(m); i < arcs.into_begin(m + 1); ++i)
        if (arcs.into(i) != share.tree.arc_of[m - 1]) weights[arcs.into(i)] = kNever<double>;
    for (const Label a : share.closed) weights[a] = kNever<double>;
    left.arcs = weights.data();
    TreeKind rest = kind;
    rest.seconds = std::max(0.0, kind.seconds - stopwatch.elapsed());
    find(arcs, left, rest, share.tree);
    if (!share.tree.exists) {
      is_up = is_up || !share.tree.in_time;
      return;
    }
    queue.push_back(std::move(share));
    std::push_heap(queue.begin(), queue.end());
  };
  find_best({{}, 0, {}});
  syntax::RankedTrees out;
  double ceiling = -kNever<double>;
  while (!queue.empty() && static_cast<Index>(out.scores.size()) < k && !is_up) {
    for (double most = kNever<double>; const Share& share : queue) {
      most = std::max(most, share.tree.bound);
      if (&share == &queue.back()) ceiling = std::min(ceiling, most);
    }
    std::pop_heap(queue.begin(), queue.end());
    const Share best = std::move(queue.back());
    queue.pop_back();
    out.arcs.insert(out.arcs.end(), best.tree.arc_of.begin(), best.tree.arc_of.end());
    out.scores.push_back(best.tree.score);
    out.bounds.push_back(std::max(best.tree.score, ceiling));
    for (Index m = best.fixed; m < n && !is_up; ++m) {
      if (static_cast<Index>(out.scores.size()) == k && !queue.empty()) break;  // one more: these are not all
      is_up = stopwatch.elapsed() >= kind.seconds;
      if (is_up) break;
      Share rest{best.tree, m, m == best.fixed ? best.closed : std::vector<Label>{}};
      rest.closed.push_back(best.tree.arc_of[m]);
      find_best(std::move(rest));
    }
  }
  out.exhausted = queue.empty() && !is_up;
  return out;
}

void TreeSearch::find_spanning_tree(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                    bool single_root, FoundTree& found) {
  const Index n = arcs.words();
  dense_.assign(static_cast<std::size_t>(n * (n + 1)), kNever<double>);
  heads_.resize(static_cast<std::size_t>(n));
  for (Index a = 0; a < arcs.size(); ++a) dense_[(arcs.modifier(a) - 1) * (n + 1) + arcs.head(a)] = scores.arcs[a];
  found.exists = relax::spanning_tree(dense_.data(), n, single_root, heads_.data());
  if (!found.exists) return;
  for (Index m = 1; m <= n; ++m) found.arc_of[m - 1] = arcs.find(heads_[m - 1], m);
}

}  // namespace certus::scoring
