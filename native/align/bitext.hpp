// Sentence pairs as numbers of words. Side 0 is the source, side 1 the target; direction d is the model that generates
// the words of side d, each from a word of the other side or from nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace certus::align {

using Word = std::uint32_t;

// The arrays belong to somebody else.
struct Bitext {
  std::span<const Word> words[2];       // all sentences of a side, one after the other
  std::span<const Index> first[2];      // [pairs + 1]: where the sentences begin
  std::span<const std::int32_t> times;  // [pairs]: how often each pair occurs
  Index vocabulary[2] = {0, 0};

  Index pairs() const { return static_cast<Index>(times.size()); }
  Index length(int side, Index n) const { return first[side][n + 1] - first[side][n]; }
  const Word* sentence(int side, Index n) const { return words[side].data() + first[side][n]; }
};

}  // namespace certus::align
