// Which words of a sentence are translated, as bits.
#pragma once

#include <array>
#include <bit>

#include "base/hash.hpp"
#include "base/types.hpp"

namespace certus::translate {

template <int W>
struct Coverage {
  std::array<std::uint64_t, W> bits{};

  static constexpr Index kWords = Index{64} * W;

  static Coverage of_span(Index begin, Index end) {
    Coverage made;
    for (Index i = begin; i < end; ++i) made.bits[i / 64] |= std::uint64_t{1} << (i % 64);
    return made;
  }
  bool overlaps(const Coverage& other) const {
    std::uint64_t both = 0;
    for (int w = 0; w < W; ++w) both |= bits[w] & other.bits[w];
    return both != 0;
  }
  Coverage operator|(const Coverage& other) const {
    Coverage made;
    for (int w = 0; w < W; ++w) made.bits[w] = bits[w] | other.bits[w];
    return made;
  }
  bool operator==(const Coverage&) const = default;
  bool has(Index i) const { return (bits[i / 64] >> (i % 64) & 1) != 0; }

  // The first word that is not translated; kWords if all are.
  Index find_gap() const {
    for (Index w = 0; w < W; ++w)
      if (~bits[w] != 0) return 64 * w + std::countr_one(bits[w]);
    return kWords;
  }
  // The last word before `end` that is not translated, or -1.
  Index find_gap_before(Index end) const {
    for (Index w = (end - 1) / 64; end > 0 && w >= 0; --w) {
      const Index left = end - 64 * w;  // bits of this word that count
      const std::uint64_t mask = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
      const std::uint64_t open = ~bits[w] & mask;
      if (open != 0) return 64 * w + 63 - std::countl_zero(open);
    }
    return -1;
  }
  hashing::Key hash(hashing::Key seed) const {
    for (int w = 0; w < W; ++w) seed = hashing::mix(seed, bits[w]);
    return seed;
  }
};

// Whether jumps of at most `limit` words can lead from a phrase that ends at `end` back to all words before that are
// not translated: each must be within the limit of `end`, or of the end of a phrase that begins at one after it. It is
// necessary, not sufficient.
template <int W>
bool can_return(const Coverage<W>& covered, Index end, Index limit) {
  if (limit < 0) return true;
  Index lowest = end - limit;
  for (Index gap = covered.find_gap_before(end); gap >= 0; gap = covered.find_gap_before(gap)) {
    if (gap < lowest) return false;
    lowest = std::min(lowest, gap + 1 - limit);
  }
  return true;
}

}  // namespace certus::translate
