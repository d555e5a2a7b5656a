// Characters of UTF-8: how long they are, what kind, and their lower case.
//
// ASCII and the two-byte characters (Latin, Greek, Cyrillic, Armenian, ...) are looked up; others are searched for.
// Bytes that are not UTF-8 count as one character each, of kind `other`.
#pragma once

#include <cstdint>
#include <string_view>

namespace certus::features {

enum class Kind : std::uint8_t {
  upper,        // an upper-case or title-case letter
  lower,        // a lower-case letter
  digit,        // a decimal digit of any script of the basic plane
  punctuation,  // ASCII that is neither letter nor digit; the punctuation and currency blocks
  other,        // letters without case, and whatever else there is
  mark,         // a combining mark U+0300..U+036F: part of the letter before it
};

struct Character {
  std::uint32_t code;    // the code point; beyond Unicode for a byte that is not UTF-8
  std::uint32_t length;  // in bytes
};

struct Properties {
  Kind kind;
  std::uint32_t lower;  // the code point of the lower-case letter, or its own
};

inline constexpr std::uint32_t kLookedUp = 0x800;  // characters of at most two bytes
inline constexpr std::uint32_t kNotUnicode = 0x110000;

extern const Properties* const kProperties;  // [kLookedUp]

Properties search_properties(std::uint32_t code);
Character decode_long(const char* p, const char* end);
const char* previous_long(const char* begin, const char* end);

inline Properties properties(std::uint32_t code) {
  return code < kLookedUp ? kProperties[code] : search_properties(code);
}

inline bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The character at p < end.
inline Character decode(const char* p, const char* end) {
  const auto byte = static_cast<unsigned char>(*p);
  return byte < 0x80 ? Character{byte, 1} : decode_long(p, end);
}

// Where the last character before `end` begins; `begin` < `end`.
inline const char* previous(const char* begin, const char* end) {
  return static_cast<unsigned char>(end[-1]) < 0x80 ? end - 1 : previous_long(begin, end);
}

// Writes the lower-case form of a text, at most twice as long, and returns its end.
char* lower_case(std::string_view text, char* out);

}  // namespace certus::features
