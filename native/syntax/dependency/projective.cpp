// Spans are built by their first word from the last to the first, and for each by their last word outwards, so that
// all that a span is made of is there. Notation: C(h, e) is a head with all of its modifiers up to e on one side;
// I(h, m) a head with its modifiers up to m, where m still lacks what is on its far side; with parents, both know the
// arc into h.
#include "syntax/dependency/projective.hpp"

#include <algorithm>
#include <string>

namespace certus::syntax {

ProgramTooLarge::ProgramTooLarge(Index words, Index arcs, Index bytes)
    : std::length_error("the projective trees of " + std::to_string(words) + " words with " + std::to_string(arcs) +
                        " arcs, their siblings and grandparents take about " + std::to_string(bytes >> 20) +
                        " MB, more than " + std::to_string(ProjectiveBuilder::kMostBytes >> 20) +
                        ": forbid arcs by -inf, or limit seconds") {}

template <class S>
static void copy_widened(const S* scores, Index count, std::vector<double>& out) {
  out.clear();
  if (scores) out.assign(scores, scores + count);
}

template <class S>
void ProjectiveBuilder::build(const Arcs& arcs, const TreeScores<S>& scores, bool single_root, Program& program,
                              relax::Watch* watch) {
  has_siblings_ = scores.has_siblings();
  has_parents_ = scores.has_parents();
  copy_widened(scores.arcs, arcs.size(), weights_.arc);
  copy_widened(scores.siblings, arcs.siblings(), weights_.sibling);
  copy_widened(scores.grandparents, arcs.grandparents(), weights_.grandparent);
  copy_widened(scores.grandsiblings, arcs.grandsiblings(), weights_.grandsibling);
  reset(arcs, single_root, program);
  start_words();
  Heed heed;
  Index ways = program.ways();
  for (Index i = n_; i >= (single_ ? 1 : 0); --i) {
    Index to_right = arcs.middle(i), from_right = arcs.into_begin(i);  // arcs between i and j, as j goes on
    while (from_right < arcs.into_begin(i + 1) && arcs.head(arcs.into(from_right)) < i) ++from_right;
    for (Index j = i + 1; j <= n_; ++j) {
      const bool right = to_right < arcs.begin(i + 1) && arcs.modifier(to_right) == j;
      const bool left = from_right < arcs.into_begin(i + 1) && arcs.head(arcs.into(from_right)) == j;
      build_span(i, j, right ? static_cast<Label>(to_right++) : -1, left ? arcs.into(from_right++) : -1);
      heed(64);
      if (watch) (*watch)(64 + program.ways() - ways);
      ways = program.ways();
    }
  }
  if (n_ == 0) {
    program.open();
    const double weight = sibling_weight(0, 0, 0, 0) + sibling_weight(1, 0, 0, 0);
    if (weight != kNever<double>) program.add(Program::kNothing, Program::kNothing, weight);
    program.set_goal(program.close());
  } else if (single_) {
    build_single_root();
  } else {
    const Label whole = this->right(has_parents_ ? static_cast<Label>(arcs.size()) : 0, n_);
    if (whole == Program::kMissing) return;
    program.open();  // the root has no left side, which may have a score
    const double weight = sibling_weight(0, 0, 0, 0);
    if (weight != kNever<double>)
      program.add(whole, Program::kNothing, weight, has_siblings_ ? static_cast<Label>(arcs.sibling(0, 0, 0)) : -1);
    program.set_goal(program.close());
  }
}

template void ProjectiveBuilder::build(const Arcs&, const TreeScores<float>&, bool, Program&, relax::Watch*);
template void ProjectiveBuilder::build(const Arcs&, const TreeScores<double>&, bool, Program&, relax::Watch*);

// Of a head with a parents, and with k candidates on a side up to r words away: a k^2 / 2 ways of arcs, k^2 r / 6 of
// what neighbours have between them, and a k r / 2 of complete items.
Index ProjectiveBuilder::count_ways() const {
  double ways = 0;
  for (Index h = 0; h <= n_; ++h)
    for (const bool to_right : {false, true}) {
      const Index side = Arcs::side(h, to_right);
      const auto k = static_cast<double>(arcs_->candidates(side)),
                 reach = static_cast<double>(to_right ? last_[h] - h : h - first_[h]),
                 parents = static_cast<double>(has_parents_ ? arcs_->parents(h) : 1);
      ways += parents * k * (k + 1) / 2 + k * k * reach / 6 + parents * k * reach / 2;
    }
  return static_cast<Index>(ways);
}

void ProjectiveBuilder::reset(const Arcs& arcs, bool single_root, Program& program) {
  arcs_ = &arcs;
  program_ = &program;
  n_ = arcs.words();
  single_ = single_root;
  const Index contexts = has_parents_ ? arcs.size() + 1 : n_ + 1;
  right_.assign(contexts * (n_ + 1), Program::kMissing);
  left_.assign(contexts * (n_ + 1), Program::kMissing);
  item_.assign(has_parents_ ? arcs.grandparents() : arcs.size(), Program::kMissing);
  split_.assign(has_parents_ ? arcs.siblings() : has_siblings_ ? (n_ + 1) * (n_ + 1) : 0, kUnknown);
  program.clear();
  measure_reach();
  if (!has_parents_) return;
  const Index ways = count_ways();
  if (ways > kMostBytes / Program::kWayBytes) throw ProgramTooLarge(n_, arcs.size(), ways * Program::kWayBytes);
}

double ProjectiveBuilder::sibling_weight(Index side, Index parent, Index previous, Index next) const {
  double weight = 0;
  if (!weights_.sibling.empty()) weight += weights_.sibling[arcs_->sibling(side, previous, next)];
  if (!weights_.grandsibling.empty())
    weight += weights_.grandsibling[arcs_->grandsibling(side, parent, previous, next)];
  return weight;
}

template <class Visit>
void ProjectiveBuilder::visit_contexts(Index head, Index i, Index j, const Visit& visit) {
  if (!has_parents_) return visit(Index{0}, static_cast<Label>(head));
  if (head == 0) return visit(Index{0}, static_cast<Label>(arcs_->size()));
  for (Label p = arcs_->into_begin(head); p < arcs_->into_begin(head + 1); ++p) {
    const Label arc = arcs_->into(p);
    if (is_outside(arcs_->head(arc), i, j)) visit(p - arcs_->into_begin(head), arc);
  }
}

// C(h, h): no modifiers on that side.
void ProjectiveBuilder::start_words() {
  for (Index h = 0; h <= n_; ++h)
    visit_contexts(h, h, h, [&](Index parent, Label context) {
      for (const bool to_right : {false, true}) {
        const Index side = Arcs::side(h, to_right), k = arcs_->candidates(side);
        const double weight = sibling_weight(side, parent, 0, k);
        if (weight == kNever<double>) continue;
        program_->open();
        program_->add(Program::kNothing, Program::kNothing, weight,
                      has_siblings_ ? static_cast<Label>(arcs_->sibling(side, 0, k)) : -1);
        (to_right ? right(context, h) : left(context, h)) = program_->close();
      }
    });
}

void ProjectiveBuilder::build_span(Index i, Index j, Label to_right, Label to_left) {
  if (!has_siblings_ && !has_parents_) {
    build_first_order(i, j, to_right, to_left);
  } else {
    for (const Label arc : {to_right, to_left}) {
      if (arc < 0 || weights_.arc[arc] == kNever<double>) continue;
      const Index side = arcs_->side(arc), rank = arcs_->rank(arc);
      for (Index s = 0; s < rank; ++s) build_split(side, s, rank);
      visit_contexts(arcs_->head(arc), i, j, [&](Index parent, Label) { build_arc(arc, parent); });
    }
  }
  if (j <= last_[i]) complete_right(i, j);
  if (i >= first_[j] && i > 0) complete_left(i, j);
}

// How far a word's modifiers, their modifiers and so on can stretch to either side.
void ProjectiveBuilder::measure_reach() {
  first_.resize(n_ + 1);
  last_.resize(n_ + 1);
  for (Index h = 0; h <= n_; ++h) {
    first_[h] = h;
    for (Label a = arcs_->begin(h); a < arcs_->middle(h); ++a)
      first_[h] = std::min(first_[h], first_[arcs_->modifier(a)]);
  }
  for (Index h = n_; h >= 0; --h) {
    last_[h] = h;
    for (Label a = arcs_->middle(h); a < arcs_->begin(h + 1); ++a)
      last_[h] = std::max(last_[h], last_[arcs_->modifier(a)]);
  }
}

// I(h, m) = C(h, r) + C(m, r + 1) + arc: both directions of an arc share the sum.
void ProjectiveBuilder::build_first_order(Index i, Index j, Label to_right, Label to_left) {
  if (to_right < 0 && to_left < 0) return;
  program_->open();
  for (Index r = i; r < j; ++r) {
    const Label a = right(static_cast<Label>(i), r), b = left(static_cast<Label>(j), r + 1);
    if (a != Program::kMissing && b != Program::kMissing) program_->add(a, b, 0);
  }
  const Label both = program_->close();
  if (both == Program::kMissing) return;
  for (const Label arc : {to_right, to_left}) {
    if (arc < 0 || weights_.arc[arc] == kNever<double>) continue;
    program_->open();
    program_->add(both, Program::kNothing, weights_.arc[arc]);
    item_[arc] = program_->close(arc);
  }
}

// I(h, m) = C(m, next to h) + START,  or  I(h, s) + S(s, m)  for a sibling s that is nearer to h.
void ProjectiveBuilder::build_arc(Label arc, Index parent) {
  const Label h = arcs_->head(arc), m = arcs_->modifier(arc), near = static_cast<Label>(m > h ? h + 1 : h - 1);
  const Index side = arcs_->side(arc), rank = arcs_->rank(arc);
  double own = weights_.arc[arc];
  if (!weights_.grandparent.empty()) own += weights_.grandparent[arcs_->grandparent(parent, arc)];
  if (own == kNever<double>) return;
  const auto part = [&](Index previous) {
    return has_siblings_ ? static_cast<Label>(arcs_->sibling(side, previous, rank)) : -1;
  };
  program_->open();
  const Label first = m > h ? left(context(arc), near) : right(context(arc), near);
  double weight = own + sibling_weight(side, parent, 0, rank);
  if (first != Program::kMissing && weight != kNever<double>) program_->add(first, Program::kNothing, weight, part(0));
  for (Index s = 0; s < rank; ++s) {
    const Label before = arc_item(parent, arcs_->candidate(side, s)), split = split_item(side, s, rank);
    if (before == Program::kMissing || split == Program::kMissing) continue;
    weight = own + sibling_weight(side, parent, s + 1, rank);
    if (weight != kNever<double>) program_->add(before, split, weight, part(s + 1));
  }
  arc_item(parent, arc) = program_->close(arc);
}

// S(s, m) = C(s, r) + C(m, r + 1): what two neighbouring modifiers of a head have between them.
void ProjectiveBuilder::build_split(Index side, Index inner, Index outer) {
  Label& split = split_item(side, inner, outer);
  if (split != kUnknown) return;
  Label a = arcs_->candidate(side, inner), b = arcs_->candidate(side, outer);
  if (arcs_->modifier(a) > arcs_->modifier(b)) std::swap(a, b);
  const Label from = context(a), to = context(b);
  program_->open();
  for (Index r = arcs_->modifier(a); r < arcs_->modifier(b); ++r) {
    const Label x = right(from, r), y = left(to, r + 1);
    if (x != Program::kMissing && y != Program::kMissing) program_->add(x, y, 0);
  }
  split = program_->close();
}

// C(h, e) = I(h, m) + C(m, e) + END.
void ProjectiveBuilder::complete_right(Index i, Index j) {
  const Index side = Arcs::side(i, true), k = arcs_->candidates(side);
  visit_contexts(i, i, j, [&](Index parent, Label head) {
    program_->open();
    for (Index c = 0; c < k; ++c) {
      const Label arc = arcs_->candidate(side, c);
      if (arcs_->modifier(arc) > j) break;
      const Label item = arc_item(parent, arc), rest = right(context(arc), j);
      if (item == Program::kMissing || rest == Program::kMissing) continue;
      const double weight = sibling_weight(side, parent, c + 1, k);
      if (weight != kNever<double>)
        program_->add(item, rest, weight, has_siblings_ ? static_cast<Label>(arcs_->sibling(side, c + 1, k)) : -1);
    }
    right(head, j) = program_->close();
  });
}

void ProjectiveBuilder::complete_left(Index i, Index j) {
  const Index side = Arcs::side(j, false), k = arcs_->candidates(side);
  visit_contexts(j, i, j, [&](Index parent, Label head) {
    program_->open();
    for (Index c = 0; c < k; ++c) {
      const Label arc = arcs_->candidate(side, c);
      if (arcs_->modifier(arc) < i) break;
      const Label item = arc_item(parent, arc), rest = left(context(arc), i);
      if (item == Program::kMissing || rest == Program::kMissing) continue;
      const double weight = sibling_weight(side, parent, c + 1, k);
      if (weight != kNever<double>)
        program_->add(item, rest, weight, has_siblings_ ? static_cast<Label>(arcs_->sibling(side, c + 1, k)) : -1);
    }
    left(head, i) = program_->close();
  });
}

// The root's one modifier m: C(m, 1) + C(m, n), START to m to END on the root's right side.
void ProjectiveBuilder::build_single_root() {
  const Index side = Arcs::side(0, true), k = arcs_->candidates(side);
  std::vector<Label> chosen;
  for (Index c = 0; c < k; ++c) {
    const Label arc = arcs_->candidate(side, c), m = context(arc);
    const Label a = left(m, 1), b = right(m, n_);
    double weight = weights_.arc[arc];
    if (!weights_.grandparent.empty()) weight += weights_.grandparent[arcs_->grandparent(0, arc)];
    const double first = sibling_weight(side, 0, 0, c), last = sibling_weight(side, 0, c + 1, k);
    if (a == Program::kMissing || b == Program::kMissing || weight + first + last == kNever<double>) continue;
    program_->open();
    program_->add(a, b, weight + first, has_siblings_ ? static_cast<Label>(arcs_->sibling(side, 0, c)) : -1);
    chosen.push_back(program_->close(arc));
    program_->open();
    program_->add(chosen.back(), Program::kNothing, last,
                  has_siblings_ ? static_cast<Label>(arcs_->sibling(side, c + 1, k)) : -1);
    chosen.back() = program_->close();
  }
  program_->open();
  const double weight = sibling_weight(0, 0, 0, 0);
  if (weight != kNever<double>)
    for (const Label item : chosen)
      program_->add(item, Program::kNothing, weight, has_siblings_ ? static_cast<Label>(arcs_->sibling(0, 0, 0)) : -1);
  program_->set_goal(program_->close());
}

double ProjectiveTrees::decode(Label* arc_of) {
  const double score = program_.decode(used_);
  for (const Label arc : used_) arc_of[modifier_[arc] - 1] = arc;
  return score;
}

}  // namespace certus::syntax
