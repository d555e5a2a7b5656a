// The best projective tree where only the parts of candidate arcs are scored, and all other arcs have upper bounds.
//
// A *part* of a tree is a modifier m of a head h with its inner sibling s (or START) and the parent g of h; and
// likewise the END of each side of h, after its last modifier s. Where all arcs of a part are candidates it has its
// score
//
//   w(g, h, s, m) = arc(h, m) + sibling(h, s, m) + grandparent(g, h, m) + grandsibling(g, h, s, m),
//
// and otherwise the bound u(h, m), or 0 for an END. Scores must not exceed these bounds: then no tree scores more than
// the one that is found, and that one is the best of all trees if its arcs are candidates.
//
// The program is that of Koo & Collins (2010, model 1) with one more context of a head, "its parent is no candidate",
// and one more inner sibling, "no candidate". With q the context of head h, q(a) that of the modifier of an arc a,
// C, O, X, I complete items, complete items without END, those of which the last modifier is no candidate, and
// incomplete items, all to the right (to the left likewise):
//
//   I(q, m) = u(h, m) + max over r of O(q, r) + C<(q(h, m), r + 1)
//
// where q is unknown or (h, m) is no candidate, and otherwise the largest of
//
//   I(q, m) = w(q, START, m) + C<(q(h, m), h + 1)
//   I(q, m) = u(h, m) + max over r of X(q, r) + C<(q(h, m), r + 1)
//   I(q, m) = w(q, s, m) + I(q, s) + max over r of C>(q(h, s), r) + C<(q(h, m), r + 1)    for each candidate s,
//
//   X(q, e) = max over other modifiers s of  I(q, s) + C>(q(h, s), e)
//   O(q, e) = max of X(q, e), max over candidates s of I(q, s) + C>(q(h, s), e);       O(q, h) = 0
//   C(q, e) = max of X(q, e), max over candidates s of I(q, s) + C>(q(h, s), e) + w(q, s, END)
//
// in O(n^3) for each context of a head, along rows.
#pragma once

#include <vector>

#include "relax/watch.hpp"
#include "syntax/dependency/arcs.hpp"

namespace certus::syntax {

class PartlyScoredTrees {
 public:
  // `bounds`: u as [n][n + 1], bounds[m - 1][h]. Fills heads[n]; false where there is no tree. Throws TimeIsUp if there
  // is a watch.
  bool decode(const Arcs& candidates, const TreeScores<double>& scores, const double* bounds, bool single_root,
              relax::Watch* watch, Index* heads);

  // Of the tree that was found: no tree scores more.
  double bound() const { return bound_; }

  // The memory that a sentence takes.
  static Index count_bytes(const Arcs& candidates, bool has_parents);

 private:
  // Of one side of all heads, [contexts][n + 1]; by_end is C of contexts without a parent, [n + 1][n + 1] by end and
  // head; `others` is I where the modifier is no candidate.
  struct Side {
    std::vector<double> complete, open, other, incomplete, others, by_end;
  };
  enum class Kind : std::uint8_t { complete, open, other, incomplete };
  struct Item {
    Kind kind;
    bool right;
    Index context, head, end;
  };

  void assign(const Arcs& candidates, const TreeScores<double>& scores, const double* bounds);
  void start(Index first);
  void build(Index first, relax::Watch* watch);
  void build_splits(Index head, Index modifier);
  void build_arc(Index head, Index modifier, Index context);
  void list_tails(Index head, Index end);
  void complete(Index head, Index end, Index context);
  Index count_candidates(Index head, Index end) const;
  double join(const std::vector<double>& inner, Index head, Index context, Index modifier) const;
  double find_root(Index modifier) const;
  void trace(Index* heads);
  void trace_side(const Item& item);
  void trace_arc(const Item& item);

  double bound_of(Index head, Index modifier) const { return bounds_[(modifier - 1) * size_ + head]; }
  // `previous`: 0 for START, or one more than the rank of a candidate.
  double score_pair(Index head, Index context, bool right, Index previous, Index next) const;
  double score_part(Index head, Index context, bool right, Index previous, Label arc) const;
  double score_end(Index head, Index context, bool right, Index previous) const;
  bool is_known(Index head, Index context) const {
    return !has_parents_ || head == 0 || context > first_context_[head];
  }
  // The number of the parent of a known context.
  Index parent_of(Index head, Index context) const {
    return !has_parents_ || head == 0 ? 0 : context - first_context_[head] - 1;
  }
  // The context of the modifier of an arc.
  Index context_of(Index head, Index modifier) const {
    const Label arc = cell_[head * size_ + modifier];
    return first_context_[modifier] + (has_parents_ && arc >= 0 ? 1 + arcs_->place(arc) : 0);
  }
  // The scores of the end of a side after each candidate; null where they are not scored.
  const double* ends_of(Index head, Index context, bool right) const {
    return is_known(head, context) ? ends_.data() + first_end_[2 * context + right] : nullptr;
  }
  double* row(std::vector<double>& table, Index context) { return table.data() + context * size_; }
  const double* row(const std::vector<double>& table, Index context) const { return table.data() + context * size_; }
  double& split(Index side, Index inner, Index outer) { return split_[arcs_->sibling(side, inner + 1, outer)]; }
  Side& side(bool right) { return right ? right_ : left_; }
  const Side& side(bool right) const { return right ? right_ : left_; }

  const Arcs* arcs_ = nullptr;
  TreeScores<double> scores_{nullptr};
  const double* bounds_ = nullptr;
  bool has_parents_ = false;
  Index size_ = 0, contexts_ = 0;     // n + 1; of all heads
  std::vector<Index> first_context_;  // [n + 2]
  std::vector<Label> parent_;         // [contexts]: -1 where it is unknown
  std::vector<Label> cell_;           // [n + 1][n + 1]: the candidate, by head and modifier, or -1
  Side right_, left_;
  std::vector<double> split_;     // as sibling tables
  std::vector<Index> first_end_;  // [contexts][side]
  std::vector<double> ends_;      // by context and side, of each candidate
  struct Tail {
    Index modifier;
    double score;
  };
  std::vector<Tail> tails_;
  std::vector<Item> items_;  // yet to be traced
  double bound_ = 0;
};

}  // namespace certus::syntax
