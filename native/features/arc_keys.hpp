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

#include <algorithm>
#include <vector>

#include "features/arc_words.hpp"

namespace certus::features {

using Place = std::uint32_t;  // in the table of weights

// The templates of one kind of part; those with relations come last.
struct PartTemplates {
  std::vector<ArcTemplate> plain, several;
  Index plain_bare = 0, several_bare = 0;  // how many of them have no relations

  Index count() const { return static_cast<Index>(plain.size()); }
};

class ArcPlan {
 public:
  // Throws std::invalid_argument if the program is damaged or reads columns that there are not.
  ArcPlan(const std::vector<std::int32_t>& program, Index columns, int bits);

  Index columns() const { return columns_; }
  int bits() const { return bits_; }
  bool has(ArcPart part) const { return of(part).count() > 0; }
  const PartTemplates& of(ArcPart part) const { return parts_[static_cast<int>(part)]; }
  std::size_t view(const ArcTerm& term) const;
  // Of a column as it is, or -1 where no template looks at it.
  Index find_view(Index column) const {
    const auto found =
        std::find(single_.begin(), single_.end(), ArcView{ArcFunction::text, static_cast<std::int32_t>(column), 0});
    return found == single_.end() ? -1 : found - single_.begin();
  }

  void look_up(const Sentence& sentence, ArcWords& words) const { look_up_words(sentence, single_, several_, words); }

 private:
  Index columns_;
  int bits_;
  PartTemplates parts_[kArcParts];
  std::vector<ArcView> single_, several_;
};

// Places of features of one part: of the part itself, and of its relations.
struct Places {
  std::vector<Place> bare, relation;
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
  // Words between which `between` looks, themselves apart.
  struct Stretch {
    Index low, high;
  };
  void find(const Words& words, Places& out) const;
  void find_outer(const Words& words, bool to_right, Index border, Places& out) const;
  void find_all(const Words& words, Index apart, const Stretch& between, Places& out) const;
  void find_several(const Words& words, const std::uint32_t* apart, const Stretch& between, Places& out) const;
  void prepare_plain(const ArcPlan& plan, const ArcWords& words);
  void prepare_several(const ArcPlan& plan, const ArcWords& words);
  void prepare_between(const ArcPlan& plan, const ArcWords& words);
  void prepare_apart();
  std::uint32_t mix_word(const ArcPlan& plan, const ArcTemplate& each, ArcRole role, const ArcWords& words, Index place,
                         Key seed) const;
  Index find_apart(const Words& words) const;
  List list(std::size_t several, ArcRole role, Index place) const {
    const auto& first = first_[several * kArcRoles + static_cast<std::size_t>(role)];
    const auto& all = list_[several * kArcRoles + static_cast<std::size_t>(role)];
    return {all.data() + first[place], all.data() + first[place + 1]};
  }
  Place spread_over(std::uint32_t key) const { return key * 0x9E3779B1u >> shift_; }

  const PartTemplates* templates_ = nullptr;
  ArcPart part_ = ArcPart::arc;
  Index length_ = 0;
  int shift_ = 32;
  std::vector<std::uint32_t> side_[kArcRoles];        // [place 0..n+1][plain]
  std::vector<std::uint32_t> apart_;                  // [direction and distance][plain + several]
  std::vector<std::vector<std::uint32_t>> first_;     // [several][role] -> [n + 3]
  std::vector<std::vector<std::uint32_t>> list_;      // [several][role]
  std::vector<std::vector<std::uint32_t>> tag_hash_;  // [several] -> [tag], of `between`
  std::vector<std::vector<Index>> next_;              // [several] -> [tag][n + 2]: where the tag comes next
  std::vector<std::size_t> between_;                  // [several] the view of its `between`, or none
  static constexpr std::size_t kNoView = ~std::size_t{0};
};

}  // namespace certus::features
