// Templates as numbers: what `certus.learn.templates` compiles, and model files hold.
//
//   program  = version, number of templates, template...
//   template = condition, number of terms, term...
//   term     = function, lower (0 or 1), column, offset, low, high
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace certus::features {

inline constexpr std::int32_t kVersion = 1;
inline constexpr std::int32_t kFarthest = 16;        // offsets go from -16 to 16
inline constexpr std::int32_t kLongestAffix = 32;    // in characters
inline constexpr std::uint32_t kLongestLength = 15;  // longer words count as this long
inline constexpr std::int32_t kMostValues = 32;      // of a cell under `each`; what comes after them is left out

enum class Condition : std::int32_t { always, rare, frequent };
enum class Function : std::int32_t { text, shape, flags, length, prefix, suffix, each, seen };

struct Term {
  Function function;
  bool lower;  // of the lower-cased cell; never of what a cell looks like
  std::int32_t column, offset;
  std::int32_t low, high;  // lengths of an affix; 0 otherwise

  bool is_look() const { return function >= Function::shape && function <= Function::length; }
  bool is_affix() const { return function == Function::prefix || function == Function::suffix; }
  bool is_plain() const { return is_look() || function == Function::seen; }     // takes no lower case
  bool is_several() const { return is_affix() || function == Function::each; }  // not exactly one value
};

struct Template {
  Condition condition;
  std::vector<Term> terms;  // at most one of which is several, and that one the last
};

// Throws std::invalid_argument for numbers that no templates compile to.
std::vector<Template> read_program(const std::vector<std::int32_t>& program, Index columns);

}  // namespace certus::features
