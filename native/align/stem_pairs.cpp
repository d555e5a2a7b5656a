#include "align/stem_pairs.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace certus::align {
namespace {

// The source words of each stem: those of stem s are words[begin[s]] to words[begin[s + 1]].
struct Groups {
  std::vector<Index> begin, words;

  explicit Groups(const Stems& stems) : begin(stems.count + 1), words(stems.stem.size()) {
    for (const std::uint32_t stem : stems.stem) ++begin[stem + 1];
    for (Index s = 0; s < stems.count; ++s) begin[s + 1] += begin[s];
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (std::size_t word = 0; word < words.size(); ++word) words[next[stems.stem[word]]++] = static_cast<Index>(word);
  }
};

}  // namespace

StemPairs::StemPairs(const Cooccurrences& words, const Stems& source, const Stems& target) : number_(words.size()) {
  const Groups groups(source);
  std::vector<std::uint32_t> partners;
  Heed heed;
  begin_.push_back(0);
  for (Index stem = 0; stem < source.count; ++stem) {
    const auto visit = [&](const auto& act) {
      for (Index k = groups.begin[stem]; k < groups.begin[stem + 1]; ++k)
        for (Index pair = words.begin(groups.words[k]); pair < words.begin(groups.words[k] + 1); ++pair) {
          heed(16);
          act(pair, target.stem[words.target(pair)]);
        }
    };
    partners.clear();
    visit([&](Index, std::uint32_t second) { partners.push_back(second); });
    std::sort(partners.begin(), partners.end());
    partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
    visit([&](Index pair, std::uint32_t second) {
      const auto at = std::lower_bound(partners.begin(), partners.end(), second) - partners.begin();
      number_[pair] = static_cast<std::uint32_t>(begin_.back() + at);
    });
    second_.insert(second_.end(), partners.begin(), partners.end());
    begin_.push_back(static_cast<Index>(second_.size()));
  }
}

}  // namespace certus::align
