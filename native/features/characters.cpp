#include "features/characters.hpp"

#include <algorithm>
#include <array>

#include "features/case_ranges.hpp"

namespace certus::features {
namespace {

// Where the decimal digits of the scripts of the basic plane begin, ten each.
constexpr std::uint16_t kZeros[] = {
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
    0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
};

struct Block {
  std::uint32_t first, last;
};

// Latin-1 without its letters, general punctuation, currency, CJK punctuation and forms, full-width ASCII.
constexpr Block kPunctuation[] = {
    {0x0080, 0x00a9}, {0x00ab, 0x00b4}, {0x00b6, 0x00b9}, {0x00bb, 0x00bf}, {0x00d7, 0x00d7},
    {0x00f7, 0x00f7}, {0x2000, 0x206f}, {0x20a0, 0x20cf}, {0x3000, 0x303f}, {0xfe30, 0xfe6f},
    {0xff01, 0xff0f}, {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65},
};

// The last entry of a sorted list that begins at or before `code`, or null.
template <class Entry, std::size_t N, class First>
const Entry* last_from(const Entry (&entries)[N], std::uint32_t code, First first) {
  const Entry* after = std::upper_bound(std::begin(entries), std::end(entries), code,
                                        [&](std::uint32_t c, const Entry& entry) { return c < first(entry); });
  return after == entries ? nullptr : after - 1;
}

template <class Range, std::size_t N>
const Range* find(const Range (&ranges)[N], std::uint32_t code) {
  const Range* range = last_from(ranges, code, [](const Range& r) { return r.first; });
  return range && code <= range->last && (code - range->first) % range->step == 0 ? range : nullptr;
}

bool is_punctuation(std::uint32_t code) {
  const Block* block = last_from(kPunctuation, code, [](const Block& b) { return b.first; });
  return block && code <= block->last;
}

bool is_digit(std::uint32_t code) {
  const std::uint16_t* zero = last_from(kZeros, code, [](std::uint16_t z) { return z; });
  return zero && code < *zero + 10u;
}

Properties ascii(std::uint32_t code) {
  if (code >= 'A' && code <= 'Z') return {Kind::upper, code + 32};
  if (code >= 'a' && code <= 'z') return {Kind::lower, code};
  return {code >= '0' && code <= '9' ? Kind::digit : Kind::punctuation, code};
}

std::array<Properties, kLookedUp> looked_up() {
  std::array<Properties, kLookedUp> table;
  for (std::uint32_t code = 0; code < kLookedUp; ++code) table[code] = search_properties(code);
  return table;
}

const std::array<Properties, kLookedUp> table = looked_up();

// The bytes that a lead byte announces, itself included; 1 for what is no lead byte.
std::uint32_t announced(unsigned char lead) {
  return lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

char* encode(std::uint32_t code, char* out) {
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<char>(0xc0 | code >> 6);
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else {  // no letter with case in the table lies beyond the basic plane
    *out++ = static_cast<char>(0xe0 | code >> 12);
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  }
  return out;
}

}  // namespace

const Properties* const kProperties = table.data();

Properties search_properties(std::uint32_t code) {
  if (code < 0x80) return ascii(code);
  if (const UpperRange* range = find(kUpperRanges, code))
    return {Kind::upper, static_cast<std::uint32_t>(static_cast<std::int32_t>(code) + range->delta)};
  if (find(kLowerRanges, code)) return {Kind::lower, code};
  if (code >= 0x300 && code <= 0x36f) return {Kind::mark, code};
  if (is_digit(code)) return {Kind::digit, code};
  return {is_punctuation(code) ? Kind::punctuation : Kind::other, code};
}

Character decode_long(const char* p, const char* end) {
  const auto lead = static_cast<unsigned char>(*p);
  const std::uint32_t length = announced(lead);
  if (length == 1 || end - p < static_cast<std::ptrdiff_t>(length)) return {kNotUnicode + lead, 1};
  std::uint32_t code = lead & (0xffu >> (length + 1));
  for (std::uint32_t i = 1; i < length; ++i) {
    if (!continues(p[i])) return {kNotUnicode + lead, 1};
    code = code << 6 | (static_cast<unsigned char>(p[i]) & 0x3f);
  }
  return {code, length};
}

const char* previous_long(const char* begin, const char* end) {
  for (const char* p = end - 1;; --p) {
    if (!continues(*p)) return p + decode(p, end).length == end ? p : end - 1;
    if (p == begin || end - p == 4) return end - 1;
  }
}

char* lower_case(std::string_view text, char* out) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Character c = decode(p, end);
    const Properties of = properties(c.code);
    out = of.lower == c.code ? std::copy_n(p, c.length, out) : encode(of.lower, out);
    p += c.length;
  }
  return out;
}

}  // namespace certus::features
