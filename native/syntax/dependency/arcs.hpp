// The candidate arcs of a sentence, and how scores of arcs, siblings and grandparents lie beside them.
//
// Words count from 1 to n; head 0 is the root. Arcs are sorted by head, then by modifier, and an arc is named by its
// place in that order. A *side* of a head is 2 * head for its modifiers on the left and 2 * head + 1 for those on the
// right; the candidates of a side are numbered outwards, from the one that is nearest to the head.
//
// Scores lie in flat arrays, in the precision of whoever makes them:
//
//   arcs          [size()]
//   siblings      one table for each side with k candidates, (k + 1) x (k + 1): [previous][next], where previous is 0
//                 for START and i + 1 for candidate i, and next is j for candidate j and k for END. START to END is a
//                 side without modifiers. Cells whose next is not beyond their previous are never read.
//   grandparents  one table for each head, parents x modifiers: [parent][modifier], where parents are the arcs into the
//                 head in the order of their heads, and modifiers the arcs of the head, left and right. A modifier that
//                 is the parent is never read.
//   grandsiblings one table for each side, parents x (k + 1) x (k + 1), as for siblings.
//
// The root has one parent, which stands for none. The score of a tree is the sum of all that it uses; kinds that are
// not there count nothing. -inf forbids.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::syntax {

class Arcs {
 public:
  Arcs() = default;
  Arcs(Index words, const Label* heads, const Label* modifiers, Index count) { assign(words, heads, modifiers, count); }

  // The place of the first pair that is out of order, out of range or an arc from a word to itself, or -1.
  static Index find_fault(Index words, const Label* heads, const Label* modifiers, Index count);
  // Pairs without fault. Keeps the memory of what was there before.
  void assign(Index words, const Label* heads, const Label* modifiers, Index count);
  // All arcs: n * n of them.
  void assign_all(Index words);

  Index words() const { return words_; }
  Index size() const { return static_cast<Index>(head_.size()); }
  Label head(Index arc) const { return head_[arc]; }
  Label modifier(Index arc) const { return modifier_[arc]; }

  // The arcs of a head are [begin(h), begin(h + 1)); those to the right begin at middle(h).
  Label begin(Index head) const { return begin_[head]; }
  Label middle(Index head) const { return middle_[head]; }
  Index modifiers(Index head) const { return begin_[head + 1] - begin_[head]; }
  // The arc from head to modifier, or -1.
  Label find(Index head, Index modifier) const;

  // The arcs into a word, by their heads, are into(i) for i in [into_begin(m), into_begin(m + 1)).
  Label into_begin(Index word) const { return into_begin_[word]; }
  Label into(Index i) const { return into_[i]; }
  Index parents(Index head) const { return head == 0 ? 1 : into_begin_[head + 1] - into_begin_[head]; }
  // The number of an arc among those into its modifier.
  Label place(Index arc) const { return place_[arc]; }

  // Sides.
  Index sides() const { return 2 * (words_ + 1); }
  static Index side(Index head, bool right) { return 2 * head + (right ? 1 : 0); }
  Index side(Index arc) const { return side(head_[arc], modifier_[arc] > head_[arc]); }
  Index candidates(Index side) const {
    const Index h = side / 2;
    return side % 2 ? begin_[h + 1] - middle_[h] : middle_[h] - begin_[h];
  }
  // Candidate i of a side, from the head outwards, and which candidate of its side an arc is.
  Label candidate(Index side, Index i) const {
    const Label middle = middle_[side / 2];
    return static_cast<Label>(side % 2 ? middle + i : middle - 1 - i);
  }
  Index rank(Index arc) const {
    const Label middle = middle_[head_[arc]];
    return arc >= middle ? arc - middle : middle - 1 - arc;
  }

  // Where tables begin, and how long the arrays are: [sides + 1], [n + 2], [sides + 1].
  Index siblings() const { return sibling_begin_.back(); }
  Index grandparents() const { return grandparent_begin_.back(); }
  Index grandsiblings() const { return grandsibling_begin_.back(); }
  const std::vector<Index>& sibling_begin() const { return sibling_begin_; }
  const std::vector<Index>& grandparent_begin() const { return grandparent_begin_; }
  const std::vector<Index>& grandsibling_begin() const { return grandsibling_begin_; }
  Index sibling(Index side, Index previous, Index next) const {
    return sibling_begin_[side] + previous * (candidates(side) + 1) + next;
  }
  // `parent`: the number of the arc into the head among its parents, place(arc).
  Index grandparent(Index parent, Index arc) const {
    const Label h = head_[arc];
    return grandparent_begin_[h] + parent * modifiers(h) + (arc - begin_[h]);
  }
  Index grandsibling(Index side, Index parent, Index previous, Index next) const {
    const Index k = candidates(side) + 1;
    return grandsibling_begin_[side] + (parent * k + previous) * k + next;
  }

  const std::vector<Label>& heads() const { return head_; }
  const std::vector<Label>& all_modifiers() const { return modifier_; }

 private:
  void link();
  void lay_tables();

  Index words_ = 0;
  std::vector<Label> head_, modifier_, place_, into_;              // [arcs]
  std::vector<Label> begin_{0, 0}, middle_{0}, into_begin_{0, 0};  // [n + 2], [n + 1], [n + 2]
  std::vector<Label> filled_;                                      // scratch
  std::vector<Index> sibling_begin_{0}, grandparent_begin_{0}, grandsibling_begin_{0};
};

// The scores of a sentence's trees; what is not there counts nothing.
template <class S>
struct TreeScores {
  const S* arcs;
  const S* siblings = nullptr;
  const S* grandparents = nullptr;
  const S* grandsiblings = nullptr;

  bool has_siblings() const { return siblings || grandsiblings; }
  bool has_parents() const { return grandparents || grandsiblings; }
};

// The score of a tree, given by the arc into each word: arc_of[m - 1]. Sums are taken in double.
template <class S>
double score_tree(const Arcs& arcs, const TreeScores<S>& scores, const Label* arc_of);

// What one side of a head adds to that: pairs of neighbouring modifiers, grandparents. `parent` is the number of the
// arc into the head among its parents.
template <class S>
double score_side(const Arcs& arcs, const TreeScores<S>& scores, Index side, Index parent, const Label* arc_of);

}  // namespace certus::syntax
