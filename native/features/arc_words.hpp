// The words of a sentence as templates of arcs see them: a hash for each word and each property that a template names.
//
// Words count from 1; 0 is the root. What lies before the root, or after the last word, is a boundary, and so is a
// sibling that there is not: place n + 1.
#pragma once

#include <vector>

#include "features/arc_program.hpp"
#include "features/extractor.hpp"
#include "features/hash.hpp"

namespace certus::features {

// A property of words; `each` has any number of values per word.
struct ArcView {
  ArcFunction function;
  std::int32_t column, length;
  bool operator==(const ArcView&) const = default;
};

// The values of the views in one sentence.
struct ArcWords {
  Index length = 0;                                // n
  std::vector<Key> values;                         // [view][kFarthestArc + n + 2 + kFarthestArc]
  std::vector<std::vector<std::uint32_t>> firsts;  // [view of `each`][n + 3]: where the values of places 0..n+1 begin
  std::vector<std::vector<Key>> lists;             // [view of `each`]

  Index width() const { return length + 2 + 2 * kFarthestArc; }
  Key value(Index view, Index place) const { return values[view * width() + kFarthestArc + place]; }
};

// Fills `words` with the values of views in a sentence, single ones and those of `each`.
void look_up_words(const Sentence& sentence, const std::vector<ArcView>& single, const std::vector<ArcView>& several,
                   ArcWords& words);

}  // namespace certus::features
