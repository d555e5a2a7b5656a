// The relations of a tree that is known: each word's is chosen by itself, by features of its arc, of the sibling before
// it, of the head's own head, and of its modifiers. Every feature has a weight for each relation, side by side from its
// place on.
#pragma once

#include <vector>

#include "scoring/arcs.hpp"

namespace certus::scoring {

template <class W>
class TreeLabels {
 public:
  using Sum = WeightSum<W>;

  // Weights: [2^bits + relations]. All templates count as having relations.
  TreeLabels(const ArcPlan& plan, const Relations& relations, const W* weights)
      : plan_(plan), relations_(relations), weights_(weights), sums_(static_cast<std::size_t>(relations.count)) {}

  // A sentence, and the heads of its words, [n]; both are looked at as long as the questions below are asked.
  void prepare(const ArcWords& words, const Label* heads) {
    heads_ = heads;
    length_ = words.length;
    for (const ArcPart part : {ArcPart::arc, ArcPart::sibling, ArcPart::grandparent, ArcPart::child})
      if (plan_.has(part)) keys_[static_cast<int>(part)].prepare(plan_, part, words);
    before_.assign(static_cast<std::size_t>(length_) + 1, static_cast<Label>(length_ + 1));
    link_siblings();
  }

  // Appends the places of the features of a word's relation.
  void find(Index m, Places& out) const {
    const Index h = heads_[m - 1], none = length_ + 1;
    keys(ArcPart::arc).arc(h, m, out);
    if (plan_.has(ArcPart::sibling)) keys(ArcPart::sibling).sibling(h, m, before_[m], out);
    if (plan_.has(ArcPart::grandparent))
      keys(ArcPart::grandparent).grandparent(h == 0 ? none : Index{heads_[h - 1]}, h, m, out);
    if (!plan_.has(ArcPart::child)) return;
    bool any = false;
    for (Index c = 1; c <= length_; ++c)
      if (heads_[c - 1] == m) any = true, keys(ArcPart::child).child(h, m, c, out);
    if (!any) keys(ArcPart::child).child(h, m, none, out);
  }

  // The scores of all relations of a word, [relations], after find().
  const Sum* score(const Places& places) {
    add_rows(weights_, places.bare.begin(), static_cast<Index>(places.bare.size()), relations_.count, sums_.data());
    return sums_.data();
  }
  // Asks for the weights that score() will read.
  void prefetch(const Places& places) const { prefetch_rows(weights_, places.bare, relations_.count); }

  // The best relation of a word among those that it may have; another than `apart`.
  Label choose(Index m, const Sum* scores, Label apart = -1) const {
    Label best = -1;
    for (Index r = 0; r < relations_.count; ++r)
      if (r != apart && relations_.allows(heads_[m - 1], r) && (best < 0 || scores[r] > scores[best]))
        best = static_cast<Label>(r);
    return best;
  }

 private:
  const ArcKeys& keys(ArcPart part) const { return keys_[static_cast<int>(part)]; }

  // The modifier before each word on its side of the head, from the head outwards.
  void link_siblings() {
    visit_siblings(heads_, length_, [&](Index, Index m, Index s, Index) {
      if (m <= length_) before_[m] = static_cast<Label>(s);
    });
  }

  const ArcPlan& plan_;
  const Relations& relations_;
  const W* weights_;
  ArcKeys keys_[features::kArcParts];
  std::vector<Sum> sums_;
  std::vector<Label> before_;  // [n + 1]
  const Label* heads_ = nullptr;
  Index length_ = 0;
};

}  // namespace certus::scoring
