// Words as numbers. A word is what ASCII blanks separate; three numbers are given.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/types.hpp"

namespace certus::translate {

using Word = std::uint32_t;
inline constexpr Word kUnknown = 0, kBegin = 1, kEnd = 2;
inline constexpr std::array<std::string_view, 3> kSpecial = {"<unk>", "<s>", "</s>"};

inline constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Calls visit(word) for each word of a line.
template <class Visit>
void split_words(std::string_view line, const Visit& visit) {
  for (std::size_t at = 0;;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) return;
    const std::size_t from = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    visit(line.substr(from, at - from));
  }
}

// Calls visit(line) for each line of a text, the last of which may lack its end.
template <class Visit>
void split_lines(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The arrays of a vocabulary, which somebody else owns. They may be those of a damaged file: what is found is then
// wrong, but every look ends, inside of them.
struct Vocabulary {
  const std::uint8_t* bytes = nullptr;   // the words, a line end after each
  const Index* begin = nullptr;          // [words + 1] where each begins
  const std::uint32_t* slots = nullptr;  // [slot_count] 0, or a word + 1, at or after the place of its hash
  Index words = 0, slot_count = 0;       // the latter a power of two

  std::string_view spell(Word word) const {
    return {reinterpret_cast<const char*>(bytes) + begin[word],
            static_cast<std::size_t>(begin[word + 1] - begin[word] - 1)};
  }
  // The number of a word; kUnknown if it has none.
  Word find(std::string_view word) const;
};

// A vocabulary that grows.
class WordTable {
 public:
  WordTable();

  // The number of a word, which it gets if it has none.
  Word add(std::string_view word);
  Index size() const { return static_cast<Index>(begin.size()) - 1; }
  Vocabulary view() const {
    return {bytes.data(), begin.data(), slots.data(), size(), static_cast<Index>(slots.size())};
  }

  std::vector<std::uint8_t> bytes;  // as in Vocabulary
  std::vector<Index> begin{0};
  std::vector<std::uint32_t> slots;

 private:
  void grow();
};

}  // namespace certus::translate
