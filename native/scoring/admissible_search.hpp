// The best of all trees, where few arcs are scored and all have admissible bounds: no part of a tree scores more than
// the bound of its arc. (Global scores that only lower local ones make A* over all structures exact in Lee, Lewis and
// Zettlemoyer 2016; here they make the search over few arcs exact.)
//
// Candidates are scored, trees are searched under these scores and the bounds of all other arcs, and arcs that an
// optimal tree may have become candidates, until it is known that none of the others is in a better tree:
//
//   projective trees      partly_scored.hpp: done when the best tree under scores and bounds has candidates alone
//   other trees of arcs   likewise, by maximum spanning trees
//   other trees           the best tree y over candidates, then all arcs of which the bound by a spanning tree, where
//                         arcs have their best part, is above the score of y
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "scoring/tree_search.hpp"
#include "syntax/dependency/eisner.hpp"
#include "syntax/dependency/partly_scored.hpp"

namespace certus::scoring {

// Upper bounds of arcs with all parts that they are the last of, [n][n + 1]: of word m and head h at
// (m - 1) * (n + 1) + h. Where an arc becomes a candidate, so do those into the same word whose bounds are nearly as
// good: at most `near` lower.
struct ArcBounds {
  const double* of_arcs;
  double near = 0;
};

class AdmissibleSearch {
 public:
  // Scores the parts of arcs. Throws std::length_error where there are too many.
  using Score = std::function<syntax::TreeScores<double>(const syntax::Arcs&)>;

  // `candidates`: the arcs to begin with; there are more in the end. The bound of the tree that is found holds for all
  // trees. Where the parts of candidates are too many to be scored, that is the best tree by bounds alone.
  void find(const Score& score, const ArcBounds& bounds, const TreeKind& kind, TreeSearch& search,
            syntax::Arcs& candidates, FoundTree& found);
  // No tree with an arc that is no candidate scores more; after find().
  double rest() const { return rest_; }

 private:
  void find_projective(const Score& score, const ArcBounds& bounds, const TreeKind& kind, TreeSearch& search,
                       syntax::Arcs& candidates, FoundTree& found);
  void find_spanning(const Score& score, syntax::TreeScores<double> scores, const ArcBounds& bounds,
                     const TreeKind& kind, syntax::Arcs& candidates, FoundTree& found);
  void find_by_parts(const Score& score, syntax::TreeScores<double> scores, const ArcBounds& bounds,
                     const TreeKind& kind, TreeSearch& search, syntax::Arcs& candidates, FoundTree& found);
  void find_first(const Score& score, const ArcBounds& bounds, const TreeKind& kind, syntax::Arcs& candidates,
                  FoundTree& found);
  // Makes the arcs of heads_ candidates, and others into the same words with bounds at most `near` lower; false where
  // they are.
  bool add_tree(const double* bounds, double near, syntax::Arcs& candidates);
  // Leaves no candidates but the arcs of heads_.
  void keep_tree(syntax::Arcs& candidates);
  // Makes open_ candidates.
  void add_open(syntax::Arcs& candidates);
  void take_tree(const syntax::Arcs& candidates, const syntax::TreeScores<double>& scores, double bound,
                 FoundTree& found);
  // Bounds all trees; lists arcs that are no candidates in open_ where no bound says that trees with them score at most
  // `score`.
  double bound_arcs(const syntax::Arcs& candidates, const syntax::TreeScores<double>& scores, const ArcBounds& bounds,
                    bool single_root, double score);

  syntax::PartlyScoredTrees partly_;
  syntax::Eisner eisner_;
  std::vector<Index> heads_;                   // [n]: of the tree at hand
  std::vector<double> dense_, arc_bounds_;     // [n][n + 1]
  std::vector<double> below_;                  // [n + 1]
  std::vector<std::pair<Label, Label>> open_;  // head and modifier
  std::vector<Label> list_heads_, list_modifiers_;
  double rest_ = 0;
};

}  // namespace certus::scoring
