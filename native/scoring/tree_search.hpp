// The best tree over candidate arcs, whatever parts are scored.
#pragma once

#include <vector>

#include "base/limits.hpp"
#include "syntax/dependency/charged_arcs.hpp"
#include "syntax/dependency/kbest.hpp"
#include "syntax/dependency/nonprojective.hpp"
#include "syntax/dependency/projective.hpp"

namespace certus::scoring {

struct TreeKind {
  bool projective = false;
  bool single_root = true;
  double seconds = kNoTimeLimit;  // per sentence
  Index nodes = kNoCountLimit;    // of branching, for trees that are not projective
  Index paper_iterations = 0;     // those of Koo et al. (2010), and neither fixing nor branching; 0: ours
};

struct FoundTree {
  bool exists = false;
  bool proven = false;  // otherwise time or nodes ran out
  bool in_time = true;  // whether the search ended by itself: where there is then no tree, none exists
  double score = 0, bound = 0;
  std::vector<Label> arc_of;  // [n]: the arc into each word
  // Of dual decomposition: iterations, branches, automata there were to solve in all of them, and those solved anew.
  Index iterations = 0, nodes = 0, automata = 0, solved = 0;
};

// Buffers of one thread, kept from sentence to sentence.
class TreeSearch {
 public:
  // The k best trees; fewer, and not exhausted, where the time is over.
  syntax::RankedTrees rank(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                           Index k);
  void find(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind, FoundTree& found);

 private:
  void find_projective(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                       FoundTree& found);
  void find_charged(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                    FoundTree& found);
  void find_by_agreement(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                         FoundTree& found);
  syntax::RankedTrees split(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, const TreeKind& kind,
                            Index k);
  void find_spanning_tree(const syntax::Arcs& arcs, const syntax::TreeScores<double>& scores, bool single_root,
                          FoundTree& found);

  syntax::ProjectiveTrees projective_;
  syntax::NonProjectiveTrees others_;
  syntax::ChargedArcs charged_;
  std::vector<double> dense_;
  std::vector<Index> heads_;
};

}  // namespace certus::scoring
