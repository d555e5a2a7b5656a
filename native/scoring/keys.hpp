// 64-bit keys, and how they are mixed.
#pragma once

#include <cstdint>

namespace certus::scoring {

using Key = std::uint64_t;

inline Key mix(Key a, Key b) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15ull) * (b ^ 0xD6E8FEB86659FD93ull);
  return static_cast<Key>(product) ^ static_cast<Key>(product >> 64);
}

}  // namespace certus::scoring
