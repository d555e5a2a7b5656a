#include "syntax/dependency/climb.hpp"

#include "base/interrupt.hpp"

namespace certus::syntax {

bool Climb::is_above(Label word, Label below, const Label* arc_of) const {
  while (below != 0 && below != word) below = arcs_->head(arc_of[below - 1]);
  return below == word;
}

double Climb::score_pair(Index side, Index parent, Index previous, Index next) const {
  double sum = 0;
  if (scores_->siblings) sum += scores_->siblings[arcs_->sibling(side, previous, next)];
  if (scores_->grandsiblings) sum += scores_->grandsiblings[arcs_->grandsibling(side, parent, previous, next)];
  return sum;
}

void Climb::measure_side(Index side, const Label* arc_of) {
  const Index k = arcs_->candidates(side), h = side / 2;
  const Index parent = h == 0 ? 0 : arcs_->place(arc_of[h - 1]);
  chosen_.clear();
  for (Index i = 0; i < k; ++i) {
    const Label arc = arcs_->candidate(side, i);
    if (arc_of[arcs_->modifier(arc) - 1] == arc) chosen_.push_back(i);
  }
  chosen_.push_back(k);
  Index previous = 0;
  std::size_t next = 0;
  for (Index i = 0; i < k; ++i) {
    const Label arc = arcs_->candidate(side, i);
    const bool used = chosen_[next] == i;
    if (used) ++next;
    double worth = scores_->arcs[arc] + score_pair(side, parent, previous, i) +
                   score_pair(side, parent, i + 1, chosen_[next]) - score_pair(side, parent, previous, chosen_[next]);
    if (scores_->grandparents) worth += scores_->grandparents[arcs_->grandparent(parent, arc)];
    worth_[arc] = worth;
    if (used) previous = i + 1;
  }
}

double Climb::measure_below(Label word, Label arc, Label* arc_of) const {
  double sum = 0;
  for (const bool right : {false, true}) {
    const Index side = Arcs::side(word, right);
    sum += score_side(*arcs_, *scores_, side, arcs_->place(arc), arc_of) -
           score_side(*arcs_, *scores_, side, arcs_->place(arc_of[word - 1]), arc_of);
  }
  return sum;
}

// Only the sides that an arc was taken from or given to are worth something else, and, with grandparents, those of the
// word that got another parent.
void Climb::measure_change(Label before, Label after, const Label* arc_of) {
  measure_side(arcs_->side(before), arc_of);
  measure_side(arcs_->side(after), arc_of);
  if (!scores_->has_parents()) return;
  for (const bool right : {false, true}) measure_side(Arcs::side(arcs_->modifier(after), right), arc_of);
}

// The arc that improves the tree most in the place of the one into its word, or -1. What a change to arc b adds is
// what b is worth, less what the arc was worth that it replaces: the two have different heads.
Label Climb::find_change(bool single_root, Label* arc_of) const {
  Label best = -1;
  double most = 0;
  for (Index a = 0; a < arcs_->size(); ++a) {
    const Label arc = static_cast<Label>(a), word = arcs_->modifier(a), h = arcs_->head(a), now = arc_of[word - 1];
    if (arc == now || (single_root && (h == 0 || arcs_->head(now) == 0))) continue;
    double gain = worth_[a] - worth_[now];
    if (scores_->has_parents()) gain += measure_below(word, arc, arc_of);
    if (gain > most && !is_above(word, h, arc_of)) most = gain, best = arc;
  }
  return best;
}

double Climb::improve(const Arcs& arcs, const TreeScores<double>& scores, bool single_root, Label* arc_of) {
  arcs_ = &arcs;
  scores_ = &scores;
  worth_.resize(arcs.size());
  double score = score_tree(arcs, scores, arc_of);
  for (Index side = 0; side < arcs.sides(); ++side) measure_side(side, arc_of);
  Heed heed;
  while (true) {
    const Label arc = find_change(single_root, arc_of);
    heed(16 * arcs.size());
    if (arc < 0) return score;
    const Label word = arcs.modifier(arc), before = arc_of[word - 1];
    arc_of[word - 1] = arc;
    const double changed = score_tree(arcs, scores, arc_of);
    if (!(changed > score)) {  // what was won was rounding, or something else is forbidden
      arc_of[word - 1] = before;
      return score;
    }
    score = changed;
    measure_change(before, arc, arc_of);
  }
}

}  // namespace certus::syntax
