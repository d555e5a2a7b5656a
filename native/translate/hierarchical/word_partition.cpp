#include "translate/hierarchical/word_partition.hpp"

namespace certus::translate {

// Colours the graph of what was noted, greedily: next is always the word whose neighbours have most different parts,
// of those the one with most neighbours (Brélaz 1979). Words that were never wrong are in the first part.
bool WordPartition::refine() {
  if (!changed_) return false;
  const Index words = static_cast<Index>(part_.size());
  std::ranges::fill(part_, -1);
  std::vector<std::vector<char>> taken(words);  // [words][parts] those of its neighbours
  std::vector<Index> different(words);
  std::vector<Opening> open;
  for (Opening w = 0; w < words; ++w)
    if (others_[w].empty()) {
      part_[w] = 0;
    } else {
      open.push_back(w);
    }
  parts_ = 1;
  while (!open.empty()) {
    const auto next = std::ranges::max_element(
        open, {}, [&](Opening w) { return std::pair(different[w], static_cast<Index>(others_[w].size())); });
    const Opening word = *next;
    *next = open.back();
    open.pop_back();
    const Index part = std::ranges::find(taken[word], 0) - taken[word].begin();
    part_[word] = part;
    parts_ = std::max(parts_, part + 1);
    for (const Opening other : others_[word]) {
      if (static_cast<Index>(taken[other].size()) <= part) taken[other].resize(part + 1);
      different[other] += taken[other][part] == 0;
      taken[other][part] = 1;
    }
  }
  contexts_ = 1;
  for (int place = 0; place < places_; ++place) contexts_ *= parts_;
  changed_ = false;
  return true;
}

}  // namespace certus::translate
