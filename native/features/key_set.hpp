// A set of keys that is made once and asked often.
#pragma once

#include <bit>
#include <vector>

#include "features/hash.hpp"

namespace certus::features {

// Open addressing by the low bits, at most half full: a question looks at one or two neighbouring slots.
class KeySet {
 public:
  KeySet(const Key* keys, std::size_t count) : slots_(std::bit_ceil(2 * count + 1), 0), mask_(slots_.size() - 1) {
    for (std::size_t i = 0; i < count; ++i) {
      if (keys[i] == 0) zero_ = true;
      else slots_[place(keys[i])] = keys[i];
    }
  }

  bool contains(Key key) const { return key == 0 ? zero_ : slots_[place(key)] == key; }

 private:
  // Where a key lies, or the empty slot where it would.
  std::size_t place(Key key) const {
    std::size_t slot = key & mask_;
    while (slots_[slot] != 0 && slots_[slot] != key) slot = (slot + 1) & mask_;
    return slot;
  }

  std::vector<Key> slots_;  // 0: empty
  std::size_t mask_;
  bool zero_ = false;
};

}  // namespace certus::features
