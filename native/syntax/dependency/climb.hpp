// Trees made better by changing one head at a time (McDonald & Pereira 2006): answers for a search, not proofs.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"

namespace certus::syntax {

class Climb {
 public:
  // Changes heads while that helps; returns the score. With `single_root`, the root keeps its one modifier.
  double improve(const Arcs& arcs, const TreeScores<double>& scores, bool single_root, Label* arc_of);

 private:
  // Whether `word` is above `below` in the tree, or the same.
  bool is_above(Label word, Label below, const Label* arc_of) const;
  double measure(Label word, Label old_arc, Label new_arc, Label* arc_of) const;

  const Arcs* arcs_ = nullptr;
  const TreeScores<double>* scores_ = nullptr;
};

}  // namespace certus::syntax
