// The weights of a trained model, laid out for scoring: a feature costs two reads of memory and an addition for each
// unit that it says anything about. The arrays may lie in a model file.
//
// A slot holds the upper half of a feature's key and where its row begins, or 0; a row is its number of entries and
// the entries. Weights are whole multiples of a common step, so sums are exact and do not depend on their order.
// An entry is a word: the unit in the upper half, the weight in the lower; or, where units need more bits, two words.
// A few features speak of most units, and most tokens have several of those: their rows are the weights of all units,
// two per word, so that adding them vectorises.
#pragma once

#include <vector>

#include "scoring/keys.hpp"
#include "scoring/tagset.hpp"

namespace certus::scoring {

class FeatureTable {
 public:
  const std::uint64_t* slots = nullptr;  // [mask + 1]
  std::size_t mask = 0;
  const std::uint32_t* rows = nullptr;
  bool wide = false;

  Index units = 0;

  static constexpr std::uint32_t kDense = 0x80000000u;  // marks a row of all units, in place of the number of entries

  static bool needs_wide(Index units) { return units > 0x10000; }
  // Lists are kept as long as they take less than half the memory.
  static bool prefers_dense(std::size_t entries, Index units) {
    return (needs_wide(units) ? 8 : 4) * entries > static_cast<std::size_t>(units);
  }
  static std::size_t dense_words(Index units) { return static_cast<std::size_t>(units + 1) / 2; }

  void prefetch(Key key) const { __builtin_prefetch(slots + (key & mask)); }
  // Where a feature's row begins; 0 for a feature that was not seen in training.
  std::uint32_t find(Key key) const {
    for (std::size_t i = key & mask;; i = (i + 1) & mask) {
      const std::uint64_t slot = slots[i];
      if (slot == 0) return 0;
      if (slot >> 32 == key >> 32) return static_cast<std::uint32_t>(slot);
    }
  }
  void add(std::uint32_t row, std::int32_t* sums) const {
    const std::uint32_t count = rows[row];
    const std::uint32_t* e = rows + row + 1;
    if (count == kDense) {
      add_dense(e, sums, units);
    } else if (wide) {
      for (std::size_t i = 0; i < count; ++i) sums[e[2 * i]] += static_cast<std::int16_t>(e[2 * i + 1]);
    } else {
      for (std::uint32_t i = 0; i < count; ++i) sums[e[i] >> 16] += static_cast<std::int16_t>(e[i] & 0xFFFF);
    }
  }
  // Whether arrays of these sizes are a table: nothing that is looked up will lead outside them.
  bool is_sound(std::size_t slot_count, std::size_t word_count) const;

 private:
  static void add_dense(const std::uint32_t* weights, std::int32_t* sums, Index units);
};

// Appends a row of these units and weights, which are multiples of the step.
void put_row(std::vector<std::uint32_t>& rows, const std::vector<std::pair<Unit, std::int32_t>>& entries, Index units,
             bool dense);

}  // namespace certus::scoring
