#include "scoring/feature_table.hpp"

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

typedef std::int16_t Weight __attribute__((may_alias));

}  // namespace

CERTUS_CLONES void FeatureTable::add_dense(const std::uint32_t* weights, std::int32_t* __restrict sums, Index units) {
  const Weight* __restrict w = reinterpret_cast<const Weight*>(weights);
  for (Index u = 0; u < units; ++u) sums[u] += w[u];
}

bool FeatureTable::is_sound(std::size_t slot_count, std::size_t word_count) const {
  if (slot_count == 0 || (slot_count & (slot_count - 1)) != 0 || mask != slot_count - 1 || word_count == 0)
    return false;
  const std::size_t U = static_cast<std::size_t>(units), width = wide ? 2 : 1;
  std::vector<bool> starts(word_count, false);
  for (std::size_t i = 1; i < word_count;) {
    starts[i] = true;
    const std::uint32_t count = rows[i++];
    const std::size_t words = count == kDense ? dense_words(units) : width * count;
    if (words > word_count - i) return false;
    for (std::size_t n = 0; count != kDense && n < count; ++n)
      if ((wide ? rows[i + 2 * n] : rows[i + n] >> 16) >= U) return false;
    i += words;
  }
  bool has_empty = false;
  for (std::size_t i = 0; i < slot_count; ++i) {
    const std::uint32_t row = static_cast<std::uint32_t>(slots[i]);
    if (slots[i] == 0) has_empty = true;
    else if (row >= word_count || !starts[row]) return false;
  }
  return has_empty;
}

void put_row(std::vector<std::uint32_t>& rows, const std::vector<std::pair<Unit, std::int32_t>>& entries, Index units,
             bool dense) {
  rows.push_back(dense ? FeatureTable::kDense : static_cast<std::uint32_t>(entries.size()));
  if (dense) {
    const std::size_t begin = rows.size();
    rows.resize(begin + FeatureTable::dense_words(units), 0);
    Weight* const all = reinterpret_cast<Weight*>(rows.data() + begin);
    for (const auto& [u, q] : entries) all[u] = static_cast<Weight>(q);
    return;
  }
  for (const auto& [u, q] : entries) {
    if (FeatureTable::needs_wide(units)) rows.push_back(u), rows.push_back(static_cast<std::uint32_t>(q));
    else rows.push_back(u << 16 | (static_cast<std::uint32_t>(q) & 0xFFFF));
  }
}

}  // namespace certus::scoring
