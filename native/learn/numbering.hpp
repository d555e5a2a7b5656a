// Numbers for 64-bit keys.
#pragma once

#include <vector>

#include "scoring/keys.hpp"

namespace certus::learn {

using scoring::Key;

// Numbers keys 0, 1, 2, ... in the order in which they come. Open addressing, at most half full.
class Numbering {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Numbering() : slots_(1 << 10, Slot{0, kNone}) {}

  std::uint32_t find(Key key) const {
    for (std::size_t i = key & mask();; i = (i + 1) & mask()) {
      if (slots_[i].id == kNone) return kNone;
      if (slots_[i].key == key) return slots_[i].id;
    }
  }
  void prefetch(Key key) const { __builtin_prefetch(&slots_[key & mask()]); }

  // The number of a key, which becomes the next one if it is new.
  std::uint32_t number(Key key) {
    std::size_t i = key & mask();
    for (; slots_[i].id != kNone; i = (i + 1) & mask())
      if (slots_[i].key == key) return slots_[i].id;
    if (2 * (keys_.size() + 1) > slots_.size()) {
      grow();
      for (i = key & mask(); slots_[i].id != kNone;) i = (i + 1) & mask();
    }
    slots_[i] = {key, static_cast<std::uint32_t>(keys_.size())};
    keys_.push_back(key);
    return slots_[i].id;
  }

  const std::vector<Key>& keys() const { return keys_; }

 private:
  struct Slot {
    Key key;
    std::uint32_t id;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  void grow() {
    std::vector<Slot> old(2 * slots_.size(), Slot{0, kNone});
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.id == kNone) continue;
      std::size_t i = s.key & mask();
      while (slots_[i].id != kNone) i = (i + 1) & mask();
      slots_[i] = s;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Key> keys_;
};

}  // namespace certus::learn
