// Trees made better by changing one head at a time (McDonald & Pereira 2006): answers for a search, not proofs.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"

namespace certus::syntax {

class Climb {
 public:
  // Makes the best change while one helps; returns the score. With `single_root`, the root keeps its one modifier.
  double improve(const Arcs& arcs, const TreeScores<double>& scores, bool single_root, Label* arc_of);

 private:
  // Whether `word` is above `below` in the tree, or the same.
  bool is_above(Label word, Label below, const Label* arc_of) const;
  double score_pair(Index side, Index parent, Index previous, Index next) const;
  // What each arc of a side would add to the tree, or, if the tree has it, what it adds.
  void measure_side(Index side, const Label* arc_of);
  // What a word's own modifiers add under another parent, less what they add now.
  double measure_below(Label word, Label arc, Label* arc_of) const;
  // Measures again what changed with the arc into one word.
  void measure_change(Label before, Label after, const Label* arc_of);
  Label find_change(bool single_root, Label* arc_of) const;

  const Arcs* arcs_ = nullptr;
  const TreeScores<double>* scores_ = nullptr;
  std::vector<double> worth_;  // [arcs]
  std::vector<Index> chosen_;  // of a side: the candidates in the tree
};

}  // namespace certus::syntax
