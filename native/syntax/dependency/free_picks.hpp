// What head automata pick by themselves, whether or not it makes a tree: the best of the set Z of Koo et al. (2010,
// sections 3 and 5), a bound on all trees. The same arc may be picked by its head and not be the parent that its
// modifier picks, words may have several heads or none, and arcs may go round.
#pragma once

#include <vector>

#include "syntax/dependency/head_automaton.hpp"

namespace certus::syntax {

// What the automaton of one head picks.
struct Pick {
  std::vector<Label> arcs;  // of its modifiers, rising
  Label parent = -1;        // the arc into the head; -1 for the root, and where the model has no grandparents
};

class FreePicks {
 public:
  // The score of the best picks, or -inf where an automaton has none. parent_weights: what it adds that an arc is
  // picked as the parent, [arcs].
  double find(const Arcs& arcs, const TreeScores<double>& scores, const double* parent_weights);

  // After find(), if there are any: [n + 1], by head.
  const std::vector<Pick>& all() const { return picks_; }

 private:
  HeadAutomaton automaton_;
  LiveArcs live_;
  std::vector<Pick> picks_;
};

}  // namespace certus::syntax
