// The best tree over candidate arcs, whatever parts are scored.
#pragma once

#include <vector>

#include "syntax/dependency/kbest.hpp"
#include "syntax/dependency/nonprojective.hpp"
#include "syntax/dependency/projective.hpp"

namespace certus::scoring {

struct TreeKind {
  bool projective = false;
  bool single_root = true;
  double seconds = 1e300;        // per sentence, for trees that are not projective
  Index nodes = Index{1} << 40;  // of branching, likewise
};

struct FoundTree {
  bool exists = false;
  bool proven = false;  // otherwise time or nodes ran out
  double score = 0, bound = 0;
  std::vector<Label> arc_of;  // [n]: the arc into each word
};

// Buffers of one thread, kept from sentence to sentence.
class TreeSearch {
 public:
  // The k best projective trees.
  syntax::RankedTrees rank(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                           Index k);
  void find(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind, FoundTree& found);

 private:
  void find_by_agreement(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                         FoundTree& found);
  void find_spanning_tree(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, bool single_root,
                          FoundTree& found);

  syntax::ProjectiveTrees projective_;
  syntax::NonProjectiveTrees others_;
  std::vector<double> dense_;
  std::vector<Index> heads_;
};

}  // namespace certus::scoring
