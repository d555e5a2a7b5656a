// What a word looks like, whatever it is.
#pragma once

#include <string_view>

#include "features/characters.hpp"
#include "features/hash.hpp"

namespace certus::features {

struct Look {
  Key shape;                 // of the runs of kinds: "McDonald-2000" is XxXx-d
  std::uint32_t seen;        // a bit for each kind
  std::uint32_t characters;  // how many
  bool upper_first, hyphen, other_punctuation, non_ascii;

  bool has(Kind kind) const { return seen >> static_cast<int>(kind) & 1; }

  // The seven properties of `flags`, a bit each.
  std::uint32_t flags() const {
    return upper_first | (has(Kind::upper) && !has(Kind::lower)) << 1 | has(Kind::upper) << 2 | has(Kind::digit) << 3 |
           hyphen << 4 | other_punctuation << 5 | non_ascii << 6;
  }
};

Look look_at(std::string_view text);

}  // namespace certus::features
