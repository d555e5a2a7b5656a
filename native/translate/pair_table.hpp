// Small numbers by 64-bit keys, in a table that is used again and again.
#pragma once

#include <vector>

#include "base/hash.hpp"
#include "base/probing.hpp"
#include "base/types.hpp"

namespace certus::translate {

class PairTable {
 public:
  // With room for half as many keys as there are slots, a power of 2; it grows where that is not enough.
  explicit PairTable(std::size_t slots = 1024) : slots_(slots) {}

  void clear() {
    for (const std::size_t at : used_) slots_[at].value = -1;
    used_.clear();
  }
  // The value of a key; -1 where it is new, and the caller's to set.
  std::int32_t& find(std::uint64_t key) {
    if (2 * used_.size() >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.value < 0) {
      slot.key = key;
      used_.push_back(static_cast<std::size_t>(&slot - slots_.data()));
    }
    return slot.value;
  }
  // The value of a key, or -1.
  std::int32_t look_up(std::uint64_t key) const { return slots_[place(key)].value; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t value = -1;
  };
  std::size_t place(std::uint64_t key) const {
    return find_slot(hashing::mix(0, key), slots_.size() - 1,
                     [&](std::size_t i) { return slots_[i].value < 0 || slots_[i].key == key; });
  }
  void grow() {
    std::vector<Slot> old;
    old.reserve(used_.size());
    for (const std::size_t at : used_) old.push_back(slots_[at]);
    slots_.assign(2 * slots_.size(), Slot{});
    used_.clear();
    for (const Slot& slot : old) {
      used_.push_back(place(slot.key));
      slots_[used_.back()] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::size_t> used_;
};

}  // namespace certus::translate
