// Learned weights, laid out for scoring: see scoring/feature_table.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "learn/rows.hpp"
#include "scoring/feature_table.hpp"

namespace certus::learn {

using scoring::FeatureTable;

// What `compile` makes, to be looked up in a FeatureTable.
struct CompiledTable {
  std::vector<std::uint64_t> slots;
  std::vector<std::uint32_t> rows;
  float step = 1;
  Index features = 0, entries = 0;
};

// Keeps weights of at least half a step and of at least `least`. `value` gives a weight from it and its memory.
template <class Value>
CompiledTable compile(const Rows& rows, const std::vector<Key>& keys, Index units, float least, const Value& value) {
  CompiledTable out;
  const bool wide = FeatureTable::needs_wide(units);
  float most = 0;
  const auto each = [&](Feature f, auto use) {
    rows.each(f, [&](Unit u, float weight, float memory) { use(u, value(weight, memory)); });
  };
  for (Feature f = 0; f < keys.size(); ++f) each(f, [&](Unit, float w) { most = std::max(most, std::abs(w)); });
  out.step = most > 0 ? most / 32767 : 1;
  out.rows.push_back(0);
  std::vector<std::pair<Key, std::uint32_t>> placed;
  std::vector<std::pair<Unit, std::int32_t>> entries;
  Heed heed;
  for (Feature f = 0; f < keys.size(); ++f) {
    entries.clear();
    heed(64 + 16 * rows.row(f).size);
    each(f, [&](Unit u, float w) {
      const auto q = static_cast<std::int32_t>(std::lround(w / out.step));
      if (q != 0 && std::abs(w) >= least) entries.emplace_back(u, q);
    });
    if (entries.empty()) continue;
    std::sort(entries.begin(), entries.end());
    const bool dense = FeatureTable::prefers_dense(entries.size(), units);
    const std::size_t words = dense ? FeatureTable::dense_words(units) : entries.size() * (wide ? 2 : 1);
    if (out.rows.size() + 1 + words > 0xFFFFFFFFull) throw std::length_error("the model has too many weights");
    placed.emplace_back(keys[f], static_cast<std::uint32_t>(out.rows.size()));
    scoring::put_row(out.rows, entries, units, dense);
    out.entries += static_cast<Index>(entries.size());
  }
  out.features = static_cast<Index>(placed.size());
  std::size_t size = 16;
  while (2 * size < 3 * placed.size()) size *= 2;
  out.slots.assign(size, 0);
  for (const auto& [key, row] : placed) {
    const std::size_t i = find_slot(key, size - 1, [&](std::size_t n) { return out.slots[n] == 0; });
    out.slots[i] = key >> 32 << 32 | row;
  }
  return out;
}

}  // namespace certus::learn
