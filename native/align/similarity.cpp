#include "align/similarity.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace certus::align {

Letters decode_letters(std::string_view utf8) {
  Letters letters;
  for (const char byte : utf8) {
    const auto b = static_cast<unsigned char>(byte);
    if ((b & 0xC0) == 0x80 && !letters.empty()) letters.back() = (letters.back() << 6) | (b & 0x3F);
    else letters.push_back(b < 0xC0 ? b : b < 0xE0 ? b & 0x1F : b < 0xF0 ? b & 0x0F : b & 0x07);
  }
  return letters;
}

float measure_similarity(const Letters& a, const Letters& b) {
  constexpr std::size_t kShort = 4, kLong = 40;
  constexpr float kUnlike = 0.6F;
  if (a == b) return 1;
  const std::size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  if (shorter < kShort || longer > kLong || static_cast<float>(shorter) <= kUnlike * static_cast<float>(longer))
    return 0;
  std::array<std::uint8_t, kLong + 1> row{};  // row[q]: common letters of a[..p] and b[..q]
  for (const char32_t letter : a) {
    std::uint8_t diagonal = 0;
    for (std::size_t q = 1; q <= b.size(); ++q) {
      const std::uint8_t above = row[q];
      row[q] = letter == b[q - 1] ? diagonal + 1 : std::max(above, row[q - 1]);
      diagonal = above;
    }
  }
  const float ratio = static_cast<float>(row[b.size()]) / static_cast<float>(longer);
  return std::max(0.0F, (ratio - kUnlike) / (1 - kUnlike));
}

Stems::Stems(const std::vector<Letters>& words) {
  std::unordered_map<Letters, std::uint32_t> seen;
  for (const Letters& word : words)
    stem.push_back(seen.emplace(word.substr(0, kStemLetters), static_cast<std::uint32_t>(seen.size())).first->second);
  count = static_cast<Index>(seen.size());
}

}  // namespace certus::align
