#include "align/cooccurrences.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/interrupt.hpp"

namespace certus::align {
namespace {

// Sorts the target words of each source word and drops what occurs again; `begin` and `target` shrink in place.
void keep_distinct(std::vector<Index>& begin, std::vector<Word>& target) {
  Heed heed;
  Index end = 0;
  for (std::size_t source = 0; source + 1 < begin.size(); ++source) {
    const auto from = target.begin() + begin[source], to = target.begin() + begin[source + 1];
    heed(16 * (to - from));
    std::sort(from, to);
    begin[source] = end;
    for (auto it = from; it != to; ++it)
      if (it == from || *it != *(it - 1)) target[end++] = *it;  // end stays behind `it`
  }
  begin.back() = end;
  target.resize(end);
  target.shrink_to_fit();
}

}  // namespace

Cooccurrences::Cooccurrences(const Bitext& bitext) : begin_(bitext.vocabulary[0] + 1) {
  Heed heed;
  first_cell_.push_back(0);
  for (Index n = 0; n < bitext.pairs(); ++n) {
    for (Index i = 0; i < bitext.length(0, n); ++i) begin_[bitext.sentence(0, n)[i] + 1] += bitext.length(1, n);
    first_cell_.push_back(first_cell_.back() + bitext.length(0, n) * bitext.length(1, n));
  }
  for (std::size_t source = 1; source < begin_.size(); ++source) begin_[source] += begin_[source - 1];
  target_.resize(first_cell_.back());
  std::vector<Index> next(begin_.begin(), begin_.end() - 1);
  for (Index n = 0; n < bitext.pairs(); ++n)
    for (Index i = 0; i < bitext.length(0, n); ++i) {
      Index& at = next[bitext.sentence(0, n)[i]];
      std::copy_n(bitext.sentence(1, n), bitext.length(1, n), target_.begin() + at);
      at += bitext.length(1, n);
    }
  keep_distinct(begin_, target_);
  if (size() > Index{UINT32_MAX}) throw std::length_error("more than 4,294,967,295 pairs of words occur together");
  cells_.resize(first_cell_.back());
  for (Index n = 0; n < bitext.pairs(); ++n) {
    std::uint32_t* cell = cells_.data() + first_cell_[n];
    heed(32 * bitext.length(0, n) * bitext.length(1, n));
    for (Index i = 0; i < bitext.length(0, n); ++i) {
      const Word source = bitext.sentence(0, n)[i];
      const auto from = target_.begin() + begin_[source], to = target_.begin() + begin_[source + 1];
      for (Index j = 0; j < bitext.length(1, n); ++j)
        *cell++ = static_cast<std::uint32_t>(std::lower_bound(from, to, bitext.sentence(1, n)[j]) - target_.begin());
    }
  }
}

}  // namespace certus::align
