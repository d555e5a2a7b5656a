// Items beside those of first-order parsing, all from the root up to word e: V<(e), where e has all of its left
// modifiers and no head yet; V>(e), where e has all but its right modifiers, and its fragment has a head. The rules of
// figure 4, in its order:
//
//   (c)  V<(e) = V>(e - 1) finished           e has no short modifier on the left
//   (d)  V<(e) = V<(m) + I(e, m)              m is the farthest one
//   (e)  V>(e) = V<(e)                        the head of e is outside, or the root
//   (f)  V>(e) = V>(m) + I(m, e)              e is the farthest short modifier of m on the right
//   (g)  finished = V>(e)
//
// Departures: items that are finished are V>(e) itself; and outer modifiers may also stand with (c) and (g), for words
// that have no short modifier on that side.
#include "syntax/dependency/vine.hpp"

#include <algorithm>

namespace certus::syntax {

template <class S>
bool Vine::build(const Arcs& arcs, const S* arc_scores, const S* outer_scores, Index longest) {
  arcs_ = &arcs;
  n_ = arcs.words();
  longest_ = std::min(longest, n_);
  parts_ = arcs.size() + count_outer(n_);
  arc_.assign(arc_scores, arc_scores + arcs.size());
  outer_.assign(outer_scores, outer_scores + count_outer(n_));
  const Index cells = (n_ + 1) * (longest_ + 1);
  right_.assign(cells, Program::kMissing);
  left_.assign(cells, Program::kMissing);
  span_right_.assign(cells, -1);
  span_left_.assign(cells, -1);
  item_.assign(arcs.size(), Program::kMissing);
  vine_left_.assign(n_ + 1, Program::kMissing);
  vine_right_.assign(n_ + 1, Program::kMissing);
  for (Label a = arcs.begin(1); a < arcs.size(); ++a) {
    const Label h = arcs.head(a), m = arcs.modifier(a);
    (m > h ? span_right_ : span_left_)[std::min(h, m) * (longest_ + 1) + std::abs(h - m)] = a;
  }
  program_.clear();
  Heed heed;
  for (Index i = n_; i > 0; --i) {
    right(i, i) = left(i, i) = Program::kNothing;
    for (Index j = i + 1; j <= std::min(n_, i + longest_); ++j) build_span(i, j);
    heed(longest_ * longest_);
  }
  vine_right_[0] = Program::kNothing;
  for (Index e = 1; e <= n_; ++e) {
    build_vine_left(e);
    build_vine_right(e);
  }
  if (vine_right_[n_] == Program::kMissing) return false;
  const Index root = 4 * n_;
  const Label with = n_ > longest_ ? add_part(vine_right_[n_], root, outer_[root]) : Program::kMissing;
  program_.open();
  program_.add(vine_right_[n_], Program::kNothing, 0);
  if (with != Program::kMissing) program_.add(with, Program::kNothing, 0);
  program_.set_goal(program_.close());
  return true;
}

template bool Vine::build(const Arcs&, const float*, const float*, Index);
template bool Vine::build(const Arcs&, const double*, const double*, Index);

Label Vine::add_part(Label item, Index part, double score) {
  program_.open();
  if (item != Program::kMissing && score != kNever<double>) program_.add(item, Program::kNothing, score);
  return program_.close(static_cast<Label>(arcs_->size() + part));
}

bool Vine::exists(Index word, Outer kind) const {
  if (kind == head_left) return word - longest_ > 0;  // the root counts
  if (kind == modifiers_left) return word - longest_ > 1;
  return word + longest_ < n_;
}

Label Vine::add_choice(Label item, Index word, Outer kind) {
  if (item == Program::kMissing || !exists(word, kind)) return item;
  const Index part = outer(word, kind);
  const Label with = add_part(item, part, outer_[part]);
  if (with == Program::kMissing) return item;
  program_.open();
  program_.add(item, Program::kNothing, 0);
  program_.add(with, Program::kNothing, 0);
  return program_.close();
}

// As in first-order parsing, for short spans.
void Vine::build_span(Index i, Index j) {
  const Index cell = i * (longest_ + 1) + (j - i);
  if (span_right_[cell] >= 0 || span_left_[cell] >= 0) {
    program_.open();
    for (Index r = i; r < j; ++r) {
      const Label a = right(i, r), b = left(j, r + 1);
      if (a != Program::kMissing && b != Program::kMissing) program_.add(a, b, 0);
    }
    const Label both = program_.close();
    for (const Label arc : {span_right_[cell], span_left_[cell]}) {
      if (arc < 0 || both == Program::kMissing || arc_[arc] == kNever<double>) continue;
      program_.open();
      program_.add(both, Program::kNothing, arc_[arc]);
      item_[arc] = program_.close(arc);
    }
  }
  program_.open();
  for (Label a = arcs_->middle(i); a < arcs_->begin(i + 1) && arcs_->modifier(a) <= j; ++a) {
    const Label rest = right(arcs_->modifier(a), j);
    if (item_[a] != Program::kMissing && rest != Program::kMissing) program_.add(item_[a], rest, 0);
  }
  right(i, j) = program_.close();
  program_.open();
  for (Label a = arcs_->middle(j) - 1; a >= arcs_->begin(j) && arcs_->modifier(a) >= i; --a) {
    const Label rest = left(arcs_->modifier(a), i);
    if (item_[a] != Program::kMissing && rest != Program::kMissing) program_.add(item_[a], rest, 0);
  }
  left(j, i) = program_.close();
}

void Vine::build_vine_left(Index e) {
  program_.open();
  if (vine_right_[e - 1] != Program::kMissing) program_.add(vine_right_[e - 1], Program::kNothing, 0);
  for (Label a = arcs_->begin(e); a < arcs_->middle(e); ++a) {
    const Label before = vine_left_[arcs_->modifier(a)];
    if (before != Program::kMissing && item_[a] != Program::kMissing) program_.add(before, item_[a], 0);
  }
  vine_left_[e] = add_choice(program_.close(), e, modifiers_left);
}

void Vine::build_vine_right(Index e) {
  Label headed[3];
  for (const Outer kind : {head_left, head_right}) {
    const Index part = outer(e, kind);
    headed[kind] = exists(e, kind) ? add_part(vine_left_[e], part, outer_[part]) : Program::kMissing;
  }
  program_.open();
  const Label root = arcs_->into_begin(e) < arcs_->into_begin(e + 1) ? arcs_->into(arcs_->into_begin(e)) : -1;
  const bool from_root = root >= 0 && arcs_->head(root) == 0 && arc_[root] != kNever<double>;
  if (from_root && vine_left_[e] != Program::kMissing) program_.add(vine_left_[e], Program::kNothing, arc_[root]);
  headed[2] = program_.close(root);
  program_.open();
  for (const Label item : headed)
    if (item != Program::kMissing) program_.add(item, Program::kNothing, 0);
  for (Label i = arcs_->into_begin(e); i < arcs_->into_begin(e + 1); ++i) {
    const Label arc = arcs_->into(i), h = arcs_->head(arc);
    if (h == 0 || h > e || vine_right_[h] == Program::kMissing || item_[arc] == Program::kMissing) continue;
    program_.add(vine_right_[h], item_[arc], 0);
  }
  vine_right_[e] = add_choice(program_.close(), e, modifiers_right);
}

}  // namespace certus::syntax
