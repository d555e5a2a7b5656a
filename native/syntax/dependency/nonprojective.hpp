// The best tree, projective or not, of a model with siblings and grandparents: dual decomposition into a spanning tree
// and head automata (Koo et al. 2010), closed by fixing arcs and branching, with proof.
//
//     L(u, v) = max over trees y of  sum (b s(a) + u(a) + v(a)) y(a)
//             + sum over heads of  max over picks z of  f(z) + sum ((1 - b) s(a) - u(a)) z(a) - v(parent of z)
//
// bounds every tree's score. u and v move along its subgradient. Besides what the paper does:
//
//   - steps are Polyak's: the gap to the best tree known, which climbing gives from the first iteration on;
//   - an arc is dropped where the bound, less what the tree, the automaton of its head and all automata that would like
//     another arc into the same word lose by it, is not above the best tree known. Automata over fewer arcs are faster,
//     and bound better;
//   - where scores have very different sizes, those that are in no better tree than the one that was found are left
//     out, and the search begins anew (reduction.hpp);
//   - where that does not end it, the search branches on the arc that tree and automata agree on least, from the
//     multipliers it has.
#pragma once

#include <vector>

#include "base/limits.hpp"
#include "base/status.hpp"
#include "relax/watch.hpp"
#include "syntax/dependency/climb.hpp"
#include "syntax/dependency/head_automaton.hpp"
#include "syntax/dependency/reduction.hpp"

namespace certus::syntax {

struct DualOptions {
  bool single_root = false;
  double seconds = kNoTimeLimit;
  Index nodes = kNoCountLimit;
  // The method of the paper alone: its step sizes, so many iterations, neither fixing nor branching. 0: ours.
  Index paper_iterations = 0;
};

enum class DualEnd : std::uint8_t { proven, seconds, nodes, iterations };

struct DualResult {
  bool found = false;  // false: there is no tree
  double score = kNever<double>, bound = -kNever<double>;
  DualEnd end = DualEnd::proven;
  Index iterations = 0, nodes = 0, fixed = 0;
  Index automata = 0, solved = 0;  // how many automata there were to solve, over all iterations, and how many were
};

class NonProjectiveTrees {
 public:
  // Fills arc_of[n] where a tree is found.
  template <class S>
  DualResult decode(const Arcs& arcs, const TreeScores<S>& scores, const DualOptions& options, Label* arc_of);

 private:
  struct Node {
    std::vector<Label> id;     // live arcs
    std::vector<double> u, v;  // [live]
    double bound;
  };
  enum class Verdict : std::uint8_t { closed, open };

  DualResult run(Label* arc_of);
  bool find_any();
  void solve(bool plain);
  void search();
  void search_by_paper();
  void span();
  void even_out(Node& root);
  void load(const Node& node);
  void assign_live();
  Node save(double bound) const;
  Verdict bound_node(Index most);
  // Asks tree and automata where multipliers changed. False: one of them has no structure.
  bool evaluate();
  bool evaluate_tree();
  void evaluate_automaton(Index h);
  bool agree() const { return norm_ == 0; }
  void step(double size);
  void offer_tree();
  void offer(const Label* arc_of, bool climb);
  // Drops arcs by bounds. False: nothing better is left.
  bool fix(bool* changed);
  bool drop(const std::vector<std::uint8_t>& dropped);
  bool closes(double bound) const { return bound <= result_.score + tolerance_; }
  // Of steps while there is no tree, and so no gap, to choose them by.
  double choose_scale() const { return scale_ > 0 ? scale_ : 1; }
  Label choose_arc() const;

  const Arcs* arcs_ = nullptr;
  TreeScores<double> scores_{nullptr};
  OwnScores own_;
  DualOptions options_;
  DualResult result_;
  Label* best_ = nullptr;
  double tolerance_ = 0;  // a bound this close to the score proves it
  double scale_ = 0;      // of the numbers that the last bound adds up
  Climb climb_;
  Index climbs_ = 0, others_ = 0;
  relax::Watch* watch_ = nullptr;

  // The node at hand.
  LiveArcs live_;
  Index n_ = 0;
  std::vector<HeadAutomaton> automata_;                       // [n + 1]
  std::vector<double> u_, v_;                                 // [live]
  std::vector<double> tree_weight_, weight_, parent_weight_;  // [live]: in the tree, in automata as modifier, as parent
  std::vector<double> dense_;                                 // [n][n + 1]
  std::vector<Label> cell_;                                   // [n][n + 1]: the live arc, or -1
  std::vector<Index> heads_;                                  // [n]
  std::vector<Label> tree_, last_tree_, scratch_;             // [n]: live arcs; of the tree offered last; arcs
  std::vector<std::uint8_t> in_tree_, picked_, hung_;         // [live]: y, z, z of parents
  std::vector<double> value_;                                 // [n + 1] of the automata
  std::vector<std::uint8_t> dirty_;                           // [n + 1]
  std::vector<Label> modifiers_;
  std::vector<std::vector<Label>> chosen_;  // [n + 1]: live arcs
  std::vector<Label> parent_chosen_;        // [n + 1]
  std::vector<double> mean_;                // [live]: of y and z over the iterations at this node
  Index samples_ = 0;
  double tree_value_ = 0, bound_ = 0, lowest_ = 0, norm_ = 0;
  double here_ = 0;                          // the lowest bound of the node, whatever was dropped since
  std::vector<double> lowest_u_, lowest_v_;  // where the bound was lowest
  std::vector<double> with_, without_, parent_with_, tree_bound_, loss_;
  std::vector<Node> open_;
};

}  // namespace certus::syntax
