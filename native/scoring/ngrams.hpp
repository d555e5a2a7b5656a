// Weights of sequences of labels (or of their coarse tags), by a key that stands for the sequence.
#pragma once

#include <algorithm>
#include <vector>

#include "base/probing.hpp"
#include "base/types.hpp"
#include "scoring/keys.hpp"

namespace certus::scoring {

// A table to look weights up in; its arrays may lie in a model file. Key 0 marks an empty slot.
struct NgramTable {
  const Key* keys = nullptr;  // [mask + 1]
  const float* weights = nullptr;
  std::size_t mask = 0;
  const float* coarse_pairs = nullptr;  // [before][after] of groups + 1, or null: the pairs of coarse tags
  // [before][after][first] of groups + 1, or null: three coarse tags.
  const float* coarse_triples = nullptr;
  const std::uint64_t* filter = nullptr;  // see make_filter, or null

  // The slot of a key, or an empty one.
  std::size_t find(Key key) const {
    return find_slot(key, mask, [&](std::size_t n) { return keys[n] == key || keys[n] == 0; });
  }
  float at(Key key) const {
    const std::size_t i = find(key);
    return keys[i] ? weights[i] : 0;
  }
  bool has(Key key) const { return keys[find(key)] != 0; }
  // Where this is false, it has not; mostly much sooner known than to look it up.
  bool may_have(Key key) const {
    const std::size_t bit = (key >> 32) & (kFilterBits * (mask + 1) - 1);
    return !filter || (filter[bit / 64] >> (bit % 64) & 1);
  }
  static constexpr std::size_t kFilterBits = 4;  // for each slot
  void prefetch(Key key) const {
    __builtin_prefetch(keys + (key & mask));
    __builtin_prefetch(weights + (key & mask));
  }
  // Whether arrays of this size are a table: every search ends.
  bool is_sound(std::size_t size) const {
    return size > 0 && (size & (size - 1)) == 0 && mask == size - 1 &&
           std::find(keys, keys + size, Key{0}) != keys + size;
  }
};

// A bit for every n-gram: few of those that wide lattices ask for have a weight, and bits fit into near caches.
inline std::vector<std::uint64_t> make_filter(const NgramTable& table) {
  std::vector<std::uint64_t> filter(NgramTable::kFilterBits * (table.mask + 1) / 64 + 1, 0);
  for (std::size_t slot = 0; slot <= table.mask; ++slot) {
    if (!table.keys[slot]) continue;
    const std::size_t bit = (table.keys[slot] >> 32) & (NgramTable::kFilterBits * (table.mask + 1) - 1);
    filter[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  return filter;
}

// Sequences as rows of numbers, to be kept in files: a label is its own number, a coarse tag comes after the labels and
// their boundary, and rows of shorter sequences begin with the number after the last.
struct SequenceCode {
  Index labels, groups;

  std::uint32_t label(Index y) const { return static_cast<std::uint32_t>(y); }
  std::uint32_t group(Index g) const { return static_cast<std::uint32_t>(labels + 1 + g); }
  std::uint32_t nothing() const { return static_cast<std::uint32_t>(labels + groups + 2); }
  bool is_group(std::uint32_t number) const { return number > static_cast<std::uint32_t>(labels); }

  // The key of a row; 0 if it is no sequence of at least two labels, or of two coarse tags.
  template <class Number>
  Key find_key(const Number* row, Index width) const {
    Index first = 0;
    while (first < width && row[first] == nothing()) ++first;
    if (width - first < 2) return 0;
    const bool coarse = is_group(static_cast<std::uint32_t>(row[first]));
    Key key = coarse ? 2 : 1;
    for (Index i = first; i < width; ++i) {
      const std::uint32_t number = static_cast<std::uint32_t>(row[i]);
      if (number >= nothing() || is_group(number) != coarse) return 0;
      key = mix(key, coarse ? number - static_cast<Key>(labels + 1) : number);
    }
    return key;
  }
};

}  // namespace certus::scoring
