// Templates of arcs as numbers: what `certus.learn.arcs.templates` compiles, and model files hold.
//
//   program  = version, number of templates, template...
//   template = part, relation (0 or 1), distance (0 or 1), number of terms, term...
//   term     = role, function, column, offset, length
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace certus::features {

inline constexpr std::int32_t kArcVersion = 1;
inline constexpr Index kFarthestArc = 4;  // offsets go from -4 to 4

// What a template scores: a head with a modifier, with the sibling before it, with its own head, with both; or with a
// modifier of the modifier, whose role is that of a sibling.
enum class ArcPart : std::int32_t { arc, sibling, grandparent, grand_sibling, child };
inline constexpr std::int32_t kArcParts = 5;
enum class ArcRole : std::int32_t { head, modifier, sibling, grandparent, between };
inline constexpr std::int32_t kArcRoles = 4;  // of single words; `between` is of any number
enum class ArcFunction : std::int32_t { text, lower, shape, prefix, suffix, each };

struct ArcTerm {
  ArcRole role;
  ArcFunction function;
  std::int32_t column, offset, length;  // length: of an affix; 0 otherwise

  bool is_affix() const { return function == ArcFunction::prefix || function == ArcFunction::suffix; }
  bool is_several() const { return function == ArcFunction::each || role == ArcRole::between; }
};

struct ArcTemplate {
  ArcPart part;
  bool relation;  // whether each relation has a weight of its own
  bool distance;  // whether it goes with how far apart the words are
  std::vector<ArcTerm> terms;

  bool is_several() const {
    for (const ArcTerm& term : terms)
      if (term.is_several()) return true;
    return false;
  }
};

// Throws std::invalid_argument for numbers that no templates compile to.
std::vector<ArcTemplate> read_arc_program(const std::vector<std::int32_t>& program, Index columns);

}  // namespace certus::features
