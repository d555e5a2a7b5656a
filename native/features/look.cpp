#include "features/look.hpp"

namespace certus::features {
namespace {

constexpr std::uint32_t kNoSymbol = ~0u;

// What a character is in a shape; punctuation stands for itself, and no symbol is punctuation.
std::uint32_t symbol(Kind kind, std::uint32_t code) {
  constexpr char kSymbols[] = {'X', 'x', 'd', 0, 'o'};
  return kind == Kind::punctuation ? code : static_cast<std::uint32_t>(kSymbols[static_cast<int>(kind)]);
}

bool is_hyphen(std::uint32_t code) { return code == '-' || code == 0x2010 || code == 0x2011; }

}  // namespace

Look look_at(std::string_view text) {
  Look look{kEmptyAffix, 0, 0, false, false, false, false};
  std::uint32_t last = kNoSymbol;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end; ++look.characters) {
    const Character c = decode(p, end);
    const Kind kind = properties(c.code).kind;
    p += c.length;
    look.seen |= 1u << static_cast<int>(kind);
    look.non_ascii |= c.code >= 0x80;
    if (kind == Kind::punctuation) (is_hyphen(c.code) ? look.hyphen : look.other_punctuation) = true;
    if (kind == Kind::mark) continue;
    const std::uint32_t now = symbol(kind, c.code);
    if (now == last) continue;
    look.shape = extend(look.shape, now);
    last = now;
  }
  look.upper_first = !text.empty() && properties(decode(text.data(), end).code).kind == Kind::upper;
  return look;
}

}  // namespace certus::features
