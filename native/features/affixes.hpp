// The keys of all prefixes or suffixes of a text, each made from the one a character shorter.
#pragma once

#include <string_view>

#include "features/characters.hpp"
#include "features/hash.hpp"

namespace certus::features {

// out[n] = the key of the first n + 1 characters. Returns how many there are: `longest`, or the text's characters.
inline std::int32_t prefixes(std::string_view text, std::int32_t longest, Key* out) {
  const char *p = text.data(), *const end = p + text.size();
  Key key = kEmptyAffix;
  std::int32_t n = 0;
  for (; n < longest && p < end; ++n) {
    const Character c = decode(p, end);
    p += c.length;
    out[n] = key = extend(key, c.code);
  }
  return n;
}

// out[n] = the key of the last n + 1 characters, from the last to the first.
inline std::int32_t suffixes(std::string_view text, std::int32_t longest, Key* out) {
  const char *const begin = text.data(), *end = begin + text.size();
  Key key = kEmptyAffix;
  std::int32_t n = 0;
  for (; n < longest && begin < end; ++n) {
    const char* p = previous(begin, end);
    out[n] = key = extend(key, decode(p, end).code);
    end = p;
  }
  return n;
}

}  // namespace certus::features
