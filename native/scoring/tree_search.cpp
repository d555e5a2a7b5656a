#include "scoring/tree_search.hpp"

#include "relax/spanning_tree.hpp"

namespace certus::scoring {

void TreeSearch::find(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                      FoundTree& found) {
  found.arc_of.resize(static_cast<std::size_t>(arcs.words()));
  if (!kind.projective && (scores.has_siblings() || scores.has_parents()))
    return find_by_agreement(arcs, scores, kind, found);
  if (kind.projective) {
    found.exists = projective_.build(arcs, scores, kind.single_root);
    if (found.exists) projective_.decode(found.arc_of.data());
  } else {
    find_spanning_tree(arcs, scores, kind.single_root, found);
  }
  found.proven = found.exists;
  if (found.exists) found.score = found.bound = syntax::score_tree(arcs, scores, found.arc_of.data());
}

void TreeSearch::find_by_agreement(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                   const TreeKind& kind, FoundTree& found) {
  syntax::DualOptions options;
  options.single_root = kind.single_root;
  options.seconds = kind.seconds;
  options.nodes = kind.nodes;
  const syntax::DualResult result = others_.decode(arcs, scores, options, found.arc_of.data());
  found.exists = result.found;
  found.proven = result.found && result.end == syntax::DualEnd::proven;
  found.score = result.score;
  found.bound = found.proven ? result.score : result.bound;
}

syntax::RankedTrees TreeSearch::rank(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores,
                                     const TreeKind& kind, Index k) {
  if (!projective_.build(arcs, scores, kind.single_root)) return {};
  return syntax::rank_trees(arcs, projective_.program(), k);
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
