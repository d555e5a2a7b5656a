#include "scoring/tree_search.hpp"

#include "relax/spanning_tree.hpp"

namespace certus::scoring {

void TreeSearch::find(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                      FoundTree& found) {
  const Index n = arcs.words();
  dense_.assign(static_cast<std::size_t>(n * (n + 1)), kNever<double>);
  heads_.resize(static_cast<std::size_t>(n));
  for (Index a = 0; a < arcs.size(); ++a) dense_[(arcs.modifier(a) - 1) * (n + 1) + arcs.head(a)] = scores.arcs[a];
  found.exists = relax::spanning_tree(dense_.data(), n, kind.single_root, heads_.data());
  found.arc_of.resize(static_cast<std::size_t>(n));
  if (!found.exists) return;
  for (Index m = 1; m <= n; ++m) found.arc_of[m - 1] = arcs.find(heads_[m - 1], m);
  found.score = found.bound = syntax::score_tree(arcs, scores, found.arc_of.data());
  found.proven = true;
}

}  // namespace certus::scoring
