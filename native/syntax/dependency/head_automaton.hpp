// Head automata (Koo et al. 2010, sections 3 and 5): one head picks its modifiers on both sides, from the head
// outwards, scored by neighbouring pairs, and, where the model has grandparents, its own parent.
//
// The best pick of one side, by k candidates with the adjusted weights w and a table T of pairs:
//
//     F[i] = w[i] + max(T[START][i], max over s < i of F[s] + T[s][i]),   value = max(T[START][END], F[s] + T[s][END])
//
// O(k^2), and as much for each parent.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"

namespace certus::syntax {

// The arcs that are left of a sentence's candidates, and what is known of them.
struct LiveArcs {
  std::vector<Label> id;               // [live]: in the sentence's arcs, rising
  std::vector<Label> place;            // [arcs]: among the live ones, or -1
  std::vector<std::uint8_t> required;  // [live]: the only one left into its word
};

class HeadAutomaton {
 public:
  // Over the live arcs of a head; keeps its memory.
  void assign(const Arcs& arcs, const TreeScores<double>& scores, Index head, const LiveArcs& live);

  bool has_parents() const { return has_parents_; }
  // Live arcs: the candidates of a side, outwards, and the arcs into the head.
  const std::vector<Label>& candidates(bool right) const { return side_[right].arc; }
  const std::vector<Label>& parents() const { return parent_; }

  // Finds the best pick under weights of the live arcs: weights[a] as a modifier, parent_weights[a] as the parent.
  // -inf where there is none.
  double maximize(const double* weights, const double* parent_weights);
  // Lists the live arcs of what was found last: the modifiers, and the parent, or -1.
  void list_chosen(std::vector<Label>& modifiers, Label* parent) const;

  // The best value with each live arc of the automaton and without it, by live arc; of parents likewise.
  void max_marginals(const double* weights, const double* parent_weights, double* with, double* without,
                     double* parent_with);

 private:
  struct Side {
    std::vector<Label> arc;           // [k]
    std::vector<Label> limit;         // [k + 1]: for START and each candidate, the next that is required, or k
    std::vector<double> table;        // [tables][k + 1][k + 1]: [previous or START][next or END]
    std::vector<double> grandparent;  // [parents][k], or empty; -inf where the candidate is the parent
    std::vector<double> weight, forward, backward, skip;
    std::vector<Label> chosen;  // candidates
    Index tables = 1;

    Index size() const { return static_cast<Index>(arc.size()); }
    const double* table_of(Index parent) const {
      return table.data() + (tables > 1 ? parent : 0) * (size() + 1) * (size() + 1);
    }
  };

  void assign_side(const Arcs& arcs, const TreeScores<double>& scores, Index side, const LiveArcs& live, Side& out);
  void set_weights(Side& side, Index parent, const double* weights) const;
  double pick(Side& side, Index parent, const double* weights) const;
  void trace(Side& side, Index parent) const;

  Label head_ = 0;
  bool has_parents_ = false;
  std::vector<Label> parent_;        // live arcs into the head
  std::vector<Label> parent_place_;  // their numbers among the sentence's
  Side side_[2];
  std::vector<Index> kept_;  // scratch
  Index best_parent_ = 0;
};

}  // namespace certus::syntax
