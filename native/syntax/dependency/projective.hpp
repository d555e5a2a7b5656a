// Projective dependency trees: the best one, the k best, max-marginals and probabilities, exactly.
//
// One program for each order of the model, over candidate arcs only: what is built from an arc that is no candidate, or
// from a part with the score -inf, does not exist, so that a pruned sentence is cheap.
//
//   arcs alone      Eisner (2000), O(n^3): an arc spans what its ends have towards each other; O(arcs * n) when pruned.
//   siblings        McDonald & Pereira (2006), O(n^3).
//   grandparents    Koo & Collins (2010), model 1, O(n^4): items know the parent of their head; with it any of
//                   siblings, grandparents and grandsiblings.
//
// With a single root, the root's one modifier is chosen last.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "syntax/dependency/arcs.hpp"
#include "syntax/dependency/program.hpp"

namespace certus::syntax {

// Thrown before any work is done where the program of a sentence would not fit into memory.
struct ProgramTooLarge : std::length_error {
  ProgramTooLarge(Index words, Index arcs, Index bytes);
};

// Writes the program of a sentence; keeps its tables between sentences.
class ProjectiveBuilder {
 public:
  static constexpr Index kMostBytes = Index{4} << 30;

  // Throws ProgramTooLarge; and TimeIsUp, if there is a watch.
  template <class S>
  void build(const Arcs& arcs, const TreeScores<S>& scores, bool single_root, Program& program,
             relax::Watch* watch = nullptr);

 private:
  // What the weights of ways are made of. Parents are numbered as in Arcs; parts are places in the sibling tables.
  struct Weights {
    std::vector<double> arc;
    std::vector<double> grandparent, sibling, grandsibling;  // empty where there are none
  };

  static constexpr Label kUnknown = -2;

  Label context(Label arc) const { return has_parents_ ? arc : arcs_->modifier(arc); }
  // Of a complete item: the head's context (its arc from its parent, or itself), and where it ends.
  Label& right(Label context, Index end) { return right_[context * (n_ + 1) + end]; }
  Label& left(Label context, Index begin) { return left_[context * (n_ + 1) + begin]; }
  Label& arc_item(Index parent, Label arc) { return item_[has_parents_ ? arcs_->grandparent(parent, arc) : arc]; }

  // Of two neighbouring modifiers; without parents it is the same for every head.
  Label& split_item(Index side, Index inner, Index outer) {
    if (has_parents_) return split_[arcs_->sibling(side, inner + 1, outer)];
    const Label a = arcs_->candidate(side, inner), b = arcs_->candidate(side, outer);
    return split_[arcs_->modifier(std::min(a, b)) * (n_ + 1) + arcs_->modifier(std::max(a, b))];
  }

  void reset(const Arcs& arcs, bool single_root, Program& program);
  // About how many ways there will be, and at least half as many.
  Index count_ways() const;
  void measure_reach();
  void start_words();
  void build_span(Index i, Index j, Label to_right, Label to_left);
  void build_first_order(Index i, Index j, Label to_right, Label to_left);
  void build_arc(Label arc, Index parent);
  void build_split(Index side, Index inner, Index outer);
  void complete_right(Index i, Index j);
  void complete_left(Index i, Index j);
  void build_single_root();
  bool is_outside(Index word, Index i, Index j) const { return word < i || word > j; }
  double sibling_weight(Index side, Index parent, Index previous, Index next) const;
  // Calls visit(parent, context) for what the head may hang on outside of a span.
  template <class Visit>
  void visit_contexts(Index head, Index i, Index j, const Visit& visit);

  const Arcs* arcs_ = nullptr;
  Program* program_ = nullptr;
  Weights weights_;
  Index n_ = 0;
  bool has_parents_ = false, has_siblings_ = false, single_ = false;
  std::vector<Label> right_, left_, item_, split_;
  std::vector<Index> first_, last_;  // [n + 1]: the farthest words that a word can reach on either side
};

class ProjectiveTrees {
 public:
  // False where there is no tree; then the program has no goal.
  template <class S>
  bool build(const Arcs& arcs, const TreeScores<S>& scores, bool single_root, relax::Watch* watch = nullptr) {
    words_ = arcs.words();
    arcs_ = arcs.size();
    modifier_ = arcs.all_modifiers().data();
    program_.set_watch(watch);
    builder_.build(arcs, scores, single_root, program_, watch);
    return program_.is_possible();
  }

  // After build(), where there is a tree.
  double decode(Label* arc_of);
  double max_marginals(double* out) { return program_.max_marginals(arcs_, out); }
  double marginals(double* out) { return program_.marginals(arcs_, out); }
  Program& program() { return program_; }

 private:
  ProjectiveBuilder builder_;
  Program program_;
  Index words_ = 0, arcs_ = 0;
  const Label* modifier_ = nullptr;
  std::vector<Label> used_;
};

}  // namespace certus::syntax
