#include "syntax/dependency/climb.hpp"

#include "base/interrupt.hpp"

namespace certus::syntax {

bool Climb::is_above(Label word, Label below, const Label* arc_of) const {
  while (below != 0 && below != word) below = arcs_->head(arc_of[below - 1]);
  return below == word;
}

// What a change of a word's head touches: the sides of both heads, and, where modifiers know their grandparent, the
// word's own.
double Climb::measure(Label word, Label old_arc, Label new_arc, Label* arc_of) const {
  const Label before = arc_of[word - 1];
  const auto sum = [&](Label arc) {
    arc_of[word - 1] = arc;
    const Index one = arcs_->side(old_arc), two = arcs_->side(new_arc);
    double total = scores_->arcs[arc];
    const auto add = [&](Index side) {
      const Index h = side / 2;
      total += score_side(*arcs_, *scores_, side, h == 0 ? 0 : arcs_->place(arc_of[h - 1]), arc_of);
    };
    add(one);
    if (two != one) add(two);
    if (scores_->has_parents()) add(Arcs::side(word, false)), add(Arcs::side(word, true));
    return total;
  };
  const double gain = sum(new_arc) - sum(old_arc);
  arc_of[word - 1] = before;
  return gain;
}

double Climb::improve(const Arcs& arcs, const TreeScores<double>& scores, bool single_root, Label* arc_of) {
  arcs_ = &arcs;
  scores_ = &scores;
  const Index n = arcs.words();
  double score = score_tree(arcs, scores, arc_of);
  Heed heed;
  Index since = 0;  // words since the last change
  for (Index m = 1; since < n; m = m % n + 1, ++since) {
    const Label word = static_cast<Label>(m), now = arc_of[m - 1];
    if (single_root && arcs.head(now) == 0) continue;
    Label best = now;
    double most = 0;
    for (Label i = arcs.into_begin(m); i < arcs.into_begin(m + 1); ++i) {
      const Label arc = arcs.into(i), h = arcs.head(arc);
      if (arc == now || (single_root && h == 0) || is_above(word, h, arc_of)) continue;
      const double gain = measure(word, now, arc, arc_of);
      if (gain > most) most = gain, best = arc;
    }
    heed(64 * n);
    if (best == now) continue;
    arc_of[m - 1] = best;
    const double changed = score_tree(arcs, scores, arc_of);
    if (!(changed > score)) {  // what was won was rounding
      arc_of[m - 1] = now;
      continue;
    }
    score = changed;
    since = -1;
  }
  return score;
}

}  // namespace certus::syntax
