#include "syntax/dependency/arcs.hpp"

#include <algorithm>

namespace certus::syntax {

Index Arcs::find_fault(Index words, const Label* heads, const Label* modifiers, Index count) {
  for (Index a = 0; a < count; ++a) {
    const Label h = heads[a], m = modifiers[a];
    if (h < 0 || h > words || m < 1 || m > words || h == m) return a;
    if (a > 0 && (heads[a - 1] > h || (heads[a - 1] == h && modifiers[a - 1] >= m))) return a;
  }
  return -1;
}

void Arcs::assign(Index words, const Label* heads, const Label* modifiers, Index count) {
  words_ = words;
  head_.assign(heads, heads + count);
  modifier_.assign(modifiers, modifiers + count);
  link();
}

void Arcs::assign_all(Index words) {
  words_ = words;
  head_.clear();
  modifier_.clear();
  for (Index h = 0; h <= words; ++h)
    for (Index m = 1; m <= words; ++m) {
      if (m == h) continue;
      head_.push_back(static_cast<Label>(h));
      modifier_.push_back(static_cast<Label>(m));
    }
  link();
}

Label Arcs::find(Index head, Index modifier) const {
  const auto first = modifier_.begin() + begin_[head], last = modifier_.begin() + begin_[head + 1];
  const auto found = std::lower_bound(first, last, static_cast<Label>(modifier));
  return found != last && *found == modifier ? static_cast<Label>(found - modifier_.begin()) : -1;
}

void Arcs::link() {
  const Index count = size();
  begin_.assign(words_ + 2, 0);
  middle_.assign(words_ + 1, 0);
  into_begin_.assign(words_ + 2, 0);
  place_.resize(count);
  into_.resize(count);
  for (Index a = 0; a < count; ++a) {
    ++begin_[head_[a] + 1];
    ++into_begin_[modifier_[a] + 1];
    middle_[head_[a]] += modifier_[a] < head_[a];
  }
  for (Index h = 0; h <= words_; ++h) {
    begin_[h + 1] += begin_[h];
    into_begin_[h + 1] += into_begin_[h];
    middle_[h] += begin_[h];
  }
  filled_.assign(words_ + 1, 0);
  for (Index a = 0; a < count; ++a) {  // in the order of heads, which is that of the parents
    const Label m = modifier_[a];
    place_[a] = filled_[m]++;
    into_[into_begin_[m] + place_[a]] = static_cast<Label>(a);
  }
  lay_tables();
}

void Arcs::lay_tables() {
  sibling_begin_.assign(1, 0);
  grandparent_begin_.assign(1, 0);
  grandsibling_begin_.assign(1, 0);
  for (Index h = 0; h <= words_; ++h) {
    grandparent_begin_.push_back(grandparent_begin_.back() + parents(h) * modifiers(h));
    for (const Index s : {2 * h, 2 * h + 1}) {
      const Index k = candidates(s) + 1;
      sibling_begin_.push_back(sibling_begin_.back() + k * k);
      grandsibling_begin_.push_back(grandsibling_begin_.back() + parents(h) * k * k);
    }
  }
}

template <class S>
double score_side(const Arcs& arcs, const TreeScores<S>& scores, Index side, Index parent, const Label* arc_of) {
  double total = 0;
  Index previous = 0;
  const auto add = [&](Index next) {
    if (scores.siblings) total += static_cast<double>(scores.siblings[arcs.sibling(side, previous, next)]);
    if (scores.grandsiblings)
      total += static_cast<double>(scores.grandsiblings[arcs.grandsibling(side, parent, previous, next)]);
  };
  const Index k = arcs.candidates(side);
  for (Index i = 0; i < k; ++i) {
    const Label arc = arcs.candidate(side, i);
    if (arc_of[arcs.modifier(arc) - 1] != arc) continue;
    add(i);
    if (scores.grandparents) total += static_cast<double>(scores.grandparents[arcs.grandparent(parent, arc)]);
    previous = i + 1;
  }
  add(k);
  return total;
}

template <class S>
double score_tree(const Arcs& arcs, const TreeScores<S>& scores, const Label* arc_of) {
  double total = 0;
  for (Index m = 0; m < arcs.words(); ++m) total += static_cast<double>(scores.arcs[arc_of[m]]);
  if (!scores.has_siblings() && !scores.has_parents()) return total;
  for (Index s = 0; s < arcs.sides(); ++s)
    total += score_side(arcs, scores, s, s < 2 ? 0 : arcs.place(arc_of[s / 2 - 1]), arc_of);
  return total;
}

template double score_side(const Arcs&, const TreeScores<double>&, Index, Index, const Label*);
template double score_tree(const Arcs&, const TreeScores<float>&, const Label*);
template double score_tree(const Arcs&, const TreeScores<double>&, const Label*);

}  // namespace certus::syntax
