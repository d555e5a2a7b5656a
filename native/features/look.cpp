#include "features/look.hpp"

namespace certus::features {
namespace {

constexpr std::uint32_t kNoSymbol = ~0u;
constexpr Key kOnes = 0x0101010101010101;

constexpr std::uint32_t bit(Kind kind) { return 1u << static_cast<int>(kind); }

// Whether those bytes are all a to z whose highest bit is in `where`.
bool are_small(Key bytes, Key where) {
  const Key low = bytes & 0x7f * kOnes;
  const Key from_a = low + (0x80 - 'a') * kOnes, beyond_z = low + (0x7f - 'z') * kOnes;
  return (from_a & ~beyond_z & ~bytes & where) == where;
}

// Most words are short and of small ASCII letters alone.
bool is_plain(std::string_view text) {
  const std::size_t length = text.size();
  if (length == 0 || length > 16) return false;
  const Pair bytes = load_pair(text.data(), length);
  constexpr Key kHigh = 0x80 * kOnes;
  if (length < 4) return are_small(bytes.a, kHigh >> 40);
  const Key where = length < 8 ? kHigh >> 32 : kHigh;
  return are_small(bytes.a, where) && are_small(bytes.b, where);
}

bool is_hyphen(std::uint32_t code) { return code == '-' || code == 0x2010 || code == 0x2011; }

// What a character is in a shape; punctuation stands for itself, and no symbol is punctuation.
std::uint32_t symbol(Kind kind, std::uint32_t code) {
  constexpr std::uint32_t kSymbols[] = {'X', 'x', 'd', 0, 'o'};
  return kind == Kind::punctuation ? code : kSymbols[static_cast<int>(kind)];
}

Look look_closely(std::string_view text) {
  Key shape = kEmptyAffix;
  std::uint32_t seen = 0, characters = 0, last = kNoSymbol;
  bool hyphen = false, other_punctuation = false, non_ascii = false;
  const char *p = text.data(), *const end = p + text.size();
  for (; p < end; ++characters) {
    const Character c = decode(p, end);
    const Kind kind = properties(c.code).kind;
    p += c.length;
    seen |= bit(kind);
    non_ascii |= c.code >= 0x80;
    if (kind == Kind::mark) continue;
    const std::uint32_t now = symbol(kind, c.code);
    if (now == last) continue;
    shape = extend(shape, now);
    last = now;
    if (kind == Kind::punctuation) (is_hyphen(c.code) ? hyphen : other_punctuation) = true;
  }
  const bool upper_first = !text.empty() && properties(decode(text.data(), end).code).kind == Kind::upper;
  return {shape, seen, characters, upper_first, hyphen, other_punctuation, non_ascii};
}

}  // namespace

Look look_at(std::string_view text) {
  constexpr Key kPlain = extend(kEmptyAffix, 'x');
  if (!is_plain(text)) return look_closely(text);
  return {kPlain, bit(Kind::lower), static_cast<std::uint32_t>(text.size()), false, false, false, false};
}

}  // namespace certus::features
