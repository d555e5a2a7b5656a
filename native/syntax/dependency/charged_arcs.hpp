// A first tree, and a bound on all projective trees, in time that grows with the number of parts: every sibling and
// grandparent is charged to the arc of its modifier, at the most that it can be there, and the best tree by what arcs
// then score is found by Eisner's program. Ends of sides are charged to the sides.
#pragma once

#include "syntax/dependency/arcs.hpp"
#include "syntax/dependency/eisner.hpp"

namespace certus::syntax {

// What all ends of sides can score at the most.
struct ChargedEnds {
  double sum = 0, scale = 0;  // scale: of the numbers that charges add up
};

// charged[m - 1][h], of [n][n + 1], for each arc h to m: what it and the parts that it is the last of can score at the
// most. Other cells stay as they are.
template <class S>
ChargedEnds charge_arcs(const Arcs& arcs, const TreeScores<S>& scores, double* charged);

class ChargedArcs {
 public:
  // Fills arc_of[n]; false where there is no projective tree over these arcs, whatever else is forbidden.
  template <class S>
  bool find(const Arcs& arcs, const TreeScores<S>& scores, bool single_root, Label* arc_of);
  double score() const { return score_; }
  // No projective tree scores more; rounding is allowed for.
  double bound() const { return bound_; }

 private:
  Eisner eisner_;
  std::vector<double> charged_;  // [n][n + 1]
  std::vector<Index> heads_;
  double score_ = 0, bound_ = 0;
};

}  // namespace certus::syntax
