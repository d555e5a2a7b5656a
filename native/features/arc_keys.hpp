// Features of arcs, and of arcs with siblings and grandparents, as places in a table of weights.
//
// The key of a feature is a sum of one 32-bit hash for each word of the part, and one for direction and distance:
//
//   key(t, h, m) = head[h][t] + modifier[m][t] + apart[direction, distance][t]
//
// The hashes of words are made once per sentence and template, so that a part costs a few additions per template, which
// vectorise. A last multiplication spreads the sum over a table of 2^bits places: a hash kernel (Shi et al. 2009),
// which needs no dictionary. The weights of a feature for the relations of an arc stand side by side from its place on.
#pragma once

#include <vector>

#include "features/arc_plan.hpp"

namespace certus::features {

using Place = std::uint32_t;  // in the table of weights

// A list that grows without being filled first, and keeps its memory.
class PlaceList {
 public:
  const Place* begin() const { return places_.data(); }
  const Place* end() const { return places_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  // Room for so many more, to be written and then counted by grow().
  Place* reserve(std::size_t more) {
    if (size_ + more > places_.size()) places_.resize(2 * (size_ + more));
    return places_.data() + size_;
  }
  void grow(std::size_t more) { size_ += more; }

 private:
  std::vector<Place> places_;
  std::size_t size_ = 0;
};

// Places of features of one part: of the part itself, and of its relations.
struct Places {
  PlaceList bare, relation;
  void clear() {
    bare.clear();
    relation.clear();
  }
};

// The hashes of a sentence's words in the templates of one kind of part.
class ArcKeys {
 public:
  // Makes them for a sentence; what it allocates is kept for the next one.
  void prepare(const ArcPlan& plan, ArcPart part, const ArcWords& words);

  // Appends the places of the features of a part. `words`: by role, those that the kind of part has.
  void arc(Index head, Index modifier, Places& out) const { find({head, modifier, 0, 0}, out); }
  // An arc of which one end is only known to lie beyond `border`, on the right or on the left: templates of arcs, with
  // the boundary in the place of that end, and `between` over what is beyond.
  void outer_head(Index modifier, bool to_right, Index border, Places& out) const {
    find_outer({length_ + 1, modifier, 0, 0}, to_right, border, out);
  }
  void outer_modifiers(Index head, bool to_right, Index border, Places& out) const {
    find_outer({head, length_ + 1, 0, 0}, to_right, border, out);
  }
  void sibling(Index head, Index modifier, Index sibling, Places& out) const {
    find({head, modifier, sibling, 0}, out);
  }
  void grandparent(Index grandparent, Index head, Index modifier, Places& out) const {
    find({head, modifier, 0, grandparent}, out);
  }
  void child(Index head, Index modifier, Index child, Places& out) const { find({head, modifier, child, 0}, out); }
  void grand_sibling(Index grandparent, Index head, Index modifier, Index sibling, Places& out) const {
    find({head, modifier, sibling, grandparent}, out);
  }

 private:
  struct Words {
    Index at[kArcRoles];  // head, modifier, sibling, grandparent
  };
  struct List {
    const std::uint32_t *begin, *end;
  };
  // The values of one word's role in a template of several values, by place.
  struct Lists {
    std::vector<std::uint32_t> first, all;  // [n + 3]; empty where the template does not look at the role
    List at(Index place) const;
  };
  // Where the different tags of a sentence come next.
  struct Tags {
    std::vector<Key> values;           // [tags]
    std::vector<std::int32_t> next;    // [n + 1][tags]: the first place after this one with the tag, or n + 1
    std::vector<std::size_t> numbers;  // [n + 1]: the tag of each word
  };
  // A template of several values.
  struct Several {
    Lists words[kArcRoles];
    const Tags* between = nullptr;            // null without `between`
    std::vector<std::uint32_t> between_hash;  // [tags]
  };
  // Words between which `between` looks, themselves apart.
  struct Stretch {
    Index low, high;
  };
  void find(const Words& words, Places& out) const;
  void find_outer(const Words& words, bool to_right, Index border, Places& out) const;
  void find_all(const Words& words, Index apart, const Stretch& between, Places& out) const;
  void find_several(const Several& each, const Words& words, std::uint32_t apart, const Stretch& between,
                    PlaceList& out) const;
  void prepare_plain(const ArcWords& words);
  void prepare_lists(const WordHash& hash, const ArcWords& words, Lists& out) const;
  void prepare_tags(Index view, const ArcWords& words, Tags& out) const;
  void prepare_several(const ArcWords& words);
  Index find_apart(const Words& words) const;
  Place spread_over(std::uint32_t key) const { return key * 0x9E3779B1u >> shift_; }

  const PartTemplates* templates_ = nullptr;
  ArcPart part_ = ArcPart::arc;
  Index length_ = 0;
  int shift_ = 32;
  std::vector<std::uint32_t> side_[kArcRoles];  // [place 0..n+1][plain]
  std::vector<Several> several_;
  std::vector<Tags> tags_;  // by the views of `between`
};

}  // namespace certus::features
