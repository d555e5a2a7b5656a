// 64-bit keys that are the same on every machine and well mixed in all their bits.
//
// Everything is made of one step, the folded multiplication: the upper half of the 128-bit product of two words,
// xor its lower half. Strings are folded eight bytes at a time, affixes a character at a time, and values into
// features and conjunctions by `mix`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace certus::features {

using Key = std::uint64_t;

// Odd numbers without pattern: the first digits of the fractional parts of the square roots of 2, 3, 5, 7 and 11.
inline constexpr Key kRoot2 = 0x6a09e667f3bcc909, kRoot3 = 0xbb67ae8584caa73b, kRoot5 = 0x3c6ef372fe94f82b,
                     kRoot7 = 0xa54ff53a5f1d36f1, kRoot11 = 0x510e527fade682d1;

inline constexpr Key fold(Key a, Key b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<Key>(product >> 64) ^ static_cast<Key>(product);
}

// One more value joined to what is there. Not symmetric: mix(mix(seed, a), b) tells (a, b) from (b, a).
inline constexpr Key mix(Key key, Key value) { return fold(key ^ kRoot2, value ^ kRoot3); }

// A number that may be small and dense made into a key.
inline constexpr Key spread(Key number) { return fold(fold(number ^ kRoot5, kRoot7) ^ kRoot11, kRoot3); }

// One more character joined to an affix: cheaper than `mix`, for the chain of steps is as long as the affix.
inline constexpr Key kEmptyAffix = kRoot7;
inline constexpr Key extend(Key affix, std::uint32_t character) { return fold(affix ^ character, kRoot5); }

template <class Word>
inline Key load(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    Word turned = 0;
    for (std::size_t i = 0; i < sizeof word; ++i, word >>= 8) turned = (turned << 8) | (word & 0xff);
    word = turned;
  }
  return word;
}

// The key of a string. Up to sixteen bytes, two loads that may overlap cover all of it; the length tells which.
inline Key hash(std::string_view text) {
  const char* p = text.data();
  std::size_t left = text.size();
  Key a = 0, b = 0, key = kRoot2;
  for (; left > 16; p += 16, left -= 16)
    key = fold(load<std::uint64_t>(p) ^ kRoot3, load<std::uint64_t>(p + 8) ^ key);
  if (left >= 8) {
    a = load<std::uint64_t>(p);
    b = load<std::uint64_t>(p + left - 8);
  } else if (left >= 4) {
    a = load<std::uint32_t>(p);
    b = load<std::uint32_t>(p + left - 4);
  } else if (left > 0) {
    const auto byte = [p](std::size_t i) { return static_cast<Key>(static_cast<unsigned char>(p[i])); };
    a = byte(0) << 16 | byte(left / 2) << 8 | byte(left - 1);
  }
  return fold(fold(a ^ kRoot5, b ^ key) ^ kRoot11, text.size() ^ kRoot7);
}

}  // namespace certus::features
