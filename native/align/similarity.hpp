// What spelling says about words: how alike two are, and the stem that groups forms of one word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"

namespace certus::align {

using Letters = std::u32string;

Letters decode_letters(std::string_view utf8);

// From 0 to 1: 1 for the same word; for words of at least four letters, what their longest common subsequence has
// above six tenths of the longer word, as a share of the other four tenths.
float measure_similarity(const Letters& a, const Letters& b);

// Numbers of the stems of words: their first four letters.
struct Stems {
  std::vector<std::uint32_t> stem;  // [words]
  Index count = 0;

  explicit Stems(const std::vector<Letters>& words);
};

inline constexpr std::size_t kStemLetters = 4;

}  // namespace certus::align
