// How often numbers occur together, and how probable words are as translations of each other.
#pragma once

#include <vector>

#include "base/hash.hpp"
#include "base/probing.hpp"
#include "translate/vocabulary.hpp"

namespace certus::translate {

// Counts of pairs of numbers, with a value for each direction.
class PairCounts {
 public:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t count = 0;  // 0 where it is empty
    float backward = 0, forward = 0;
  };
  PairCounts() : slots_(1 << 16) {}

  Slot& add(std::uint32_t source, std::uint32_t target) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    const std::uint64_t key = std::uint64_t{source} << 32 | target;
    Slot& slot = find(key);
    if (slot.count++ == 0) {
      slot.key = key;
      ++used_;
    }
    return slot;
  }
  std::uint32_t count(std::uint32_t source, std::uint32_t target) const {
    return const_cast<PairCounts*>(this)->find(std::uint64_t{source} << 32 | target).count;
  }
  std::vector<Slot> take() {
    std::vector<Slot> kept;
    kept.reserve(used_);
    for (const Slot& slot : slots_)
      if (slot.count > 0) kept.push_back(slot);
    std::vector<Slot>().swap(slots_);
    return kept;
  }

 private:
  Slot& find(std::uint64_t key) {
    return slots_[find_slot(hashing::spread(key), slots_.size() - 1,
                            [&](std::size_t i) { return slots_[i].count == 0 || slots_[i].key == key; })];
  }
  void grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.count > 0) find(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

// Probabilities of words, by how often they are linked.
class LinkLexicon {
 public:
  static constexpr Word kNone = ~Word{0};  // what a word without a link is counted with

  void add(Word source, Word target) {
    counts_.add(place(source), place(target));
    raise(source_, place(source));
    raise(target_, place(target));
  }
  double forward(Word source, Word target) const { return count(source, target) / source_[place(source)]; }
  double backward(Word source, Word target) const { return count(source, target) / target_[place(target)]; }

 private:
  static std::uint32_t place(Word word) { return word + 1; }  // none is 0
  static void raise(std::vector<double>& counts, std::uint32_t at) {
    if (at >= counts.size()) counts.resize(std::size_t{at} + 1);
    counts[at] += 1;
  }
  double count(Word source, Word target) const { return counts_.count(place(source), place(target)); }

  PairCounts counts_;
  std::vector<double> source_, target_;
};

}  // namespace certus::translate
