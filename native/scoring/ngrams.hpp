// Weights of sequences of labels (or of their coarse tags), by a key that stands for the sequence.
#pragma once

#include <algorithm>

#include "base/probing.hpp"
#include "scoring/keys.hpp"

namespace certus::scoring {

// A table to look weights up in; its arrays may lie in a model file. Key 0 marks an empty slot.
struct NgramTable {
  const Key* keys = nullptr;  // [mask + 1]
  const float* weights = nullptr;
  std::size_t mask = 0;
  const float* coarse_pairs = nullptr;  // [before][after] of groups + 1, or null: the pairs of coarse tags

  float at(Key key) const {
    const std::size_t i = find_slot(key, mask, [&](std::size_t n) { return keys[n] == key || keys[n] == 0; });
    return keys[i] ? weights[i] : 0;
  }
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

}  // namespace certus::scoring
