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

namespace certus::hashing {

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

// At most sixteen bytes as two words that cover them all, and may overlap; the length tells how.
struct Pair {
  Key a, b;
};

inline Pair load_pair(const char* p, std::size_t length) {
  if (length >= 8) return {load<std::uint64_t>(p), load<std::uint64_t>(p + length - 8)};
  if (length >= 4) return {load<std::uint32_t>(p), load<std::uint32_t>(p + length - 4)};
  if (length == 0) return {0, 0};
  const auto byte = [p](std::size_t i) { return static_cast<Key>(static_cast<unsigned char>(p[i])); };
  return {byte(0) << 16 | byte(length / 2) << 8 | byte(length - 1), 0};
}

// The key of a string.
inline Key hash(std::string_view text) {
  const char* p = text.data();
  std::size_t left = text.size();
  Key key = kRoot2;
  for (; left > 16; p += 16, left -= 16) key = fold(load<std::uint64_t>(p) ^ kRoot3, load<std::uint64_t>(p + 8) ^ key);
  const Pair last = load_pair(p, left);
  return fold(fold(last.a ^ kRoot5, last.b ^ key) ^ kRoot11, text.size() ^ kRoot7);
}

}  // namespace certus::hashing
