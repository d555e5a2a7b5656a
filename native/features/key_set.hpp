// Keys with a value each, that are made once and asked often.
#pragma once

#include <bit>
#include <vector>

#include "base/probing.hpp"
#include "features/hash.hpp"

namespace certus::features {

// Open addressing by the low bits, at most half full: a question looks at one or two neighbouring slots.
class KeyMap {
 public:
  // `values` may be null: then nobody asks for them.
  KeyMap(const Key* keys, const Key* values, std::size_t count)
      : slots_(std::bit_ceil(2 * count + 1), 0), values_(values ? slots_.size() : 0), mask_(slots_.size() - 1) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t slot = place(keys[i]);
      if (keys[i] == 0) zero_ = true, zero_value_ = values ? values[i] : 0;
      else slots_[slot] = keys[i];
      if (values && keys[i] != 0) values_[slot] = values[i];
    }
  }

  bool contains(Key key) const { return key == 0 ? zero_ : slots_[place(key)] == key; }
  Key value(Key key, Key otherwise) const {
    if (key == 0) return zero_ ? zero_value_ : otherwise;
    const std::size_t slot = place(key);
    return slots_[slot] == key ? values_[slot] : otherwise;
  }

 private:
  // Where a key lies, or the empty slot where it would.
  std::size_t place(Key key) const {
    return find_slot(key, mask_, [&](std::size_t i) { return slots_[i] == 0 || slots_[i] == key; });
  }

  std::vector<Key> slots_;  // 0 marks an empty slot
  std::vector<Key> values_;
  std::size_t mask_;
  bool zero_ = false;
  Key zero_value_ = 0;
};

}  // namespace certus::features
