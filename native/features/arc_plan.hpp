// Templates of arcs, ready to be hashed: what each of them looks at is found once, when a model is opened.
#pragma once

#include <algorithm>
#include <vector>

#include "features/arc_words.hpp"

namespace certus::features {

inline constexpr Index kDistanceBuckets = 8;
inline constexpr Index kAparts = 4 * kDistanceBuckets;  // distances, for two directions of each of two arcs
inline constexpr Index kNoView = -1;

// How a template hashes one of its words: single values of it and of words around it, and one list of values.
struct WordHash {
  struct Cell {
    Index view, offset;
  };
  Key seed = 0;
  std::vector<Cell> cells;
  Index list = kNoView, list_offset = 0;  // the view of `each`

  bool is_empty() const { return cells.empty() && list == kNoView; }
};

struct TemplateHash {
  WordHash words[kArcRoles];
  Index between = kNoView;  // the view of `between`
  Key between_seed = 0;
};

// The templates of one kind of part; those with relations come last.
struct PartTemplates {
  std::vector<TemplateHash> plain, several;
  Index plain_bare = 0, several_bare = 0;  // how many of them have no relations
  std::vector<std::uint32_t> apart;        // [direction and distance][plain + several]
  std::vector<Index> between;              // the views of `between`, each once

  Index count() const { return static_cast<Index>(plain.size()); }  // of plain ones
};

class ArcPlan {
 public:
  // Throws std::invalid_argument if the program is damaged or reads columns that there are not.
  ArcPlan(const std::vector<std::int32_t>& program, Index columns, int bits);

  Index columns() const { return columns_; }
  int bits() const { return bits_; }
  bool has(ArcPart part) const { return !of(part).plain.empty() || !of(part).several.empty(); }
  const PartTemplates& of(ArcPart part) const { return parts_[static_cast<int>(part)]; }
  // Of a column as it is, or -1 where no template looks at it.
  Index find_view(Index column) const {
    const auto found =
        std::find(single_.begin(), single_.end(), ArcView{ArcFunction::text, static_cast<std::int32_t>(column), 0});
    return found == single_.end() ? -1 : found - single_.begin();
  }

  void look_up(const Sentence& sentence, ArcWords& words) const { look_up_words(sentence, single_, several_, words); }

 private:
  TemplateHash make_hash(const ArcTemplate& each);
  Index add_view(const ArcTerm& term);

  Index columns_;
  int bits_;
  PartTemplates parts_[kArcParts];
  std::vector<ArcView> single_, several_;
};

}  // namespace certus::features
