#include "translate/phrase_extraction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/interrupt.hpp"
#include "translate/kneser_ney.hpp"
#include "translate/link_lexicon.hpp"
#include "translate/phrase_pool.hpp"

namespace certus::translate {
namespace {

// The links of all pairs; words without one are counted with none.
LinkLexicon count_links(const AlignedText& text) {
  LinkLexicon lexicon;
  std::vector<char> linked;
  for (Index n = 0; n < text.pairs; ++n) {
    const Index from = text.source_first[n], to = text.target_first[n];
    for (Index k = text.link_first[n]; k < text.link_first[n + 1]; ++k)
      lexicon.add(text.source_words[from + text.link_source[k]], text.target_words[to + text.link_target[k]]);
    const auto add_free = [&](const std::int32_t* links, Index first, Index last, const Word* words, bool source) {
      linked.assign(last - first, 0);
      for (Index k = text.link_first[n]; k < text.link_first[n + 1]; ++k) linked[links[k]] = 1;
      for (Index i = first; i < last; ++i)
        if (!linked[i - first])
          source ? lexicon.add(words[i], LinkLexicon::kNone) : lexicon.add(LinkLexicon::kNone, words[i]);
    };
    add_free(text.link_source, from, text.source_first[n + 1], text.source_words, true);
    add_free(text.link_target, to, text.target_first[n + 1], text.target_words, false);
  }
  return lexicon;
}

// The probability of one side of a phrase pair given the other, which was seen with it as often as counted.
class SmoothedShares {
 public:
  SmoothedShares(const Discounts& discounts, std::size_t given, std::size_t found)
      : discounts_(discounts), counts_(given), left_(given), kinds_(found) {}

  void add(std::uint32_t given, std::uint32_t found, std::uint32_t count) {
    counts_[given] += count;
    left_[given] += discounts_(count);
    kinds_[found] += 1;
    pairs_ += 1;
  }
  double find(std::uint32_t given, std::uint32_t found, std::uint32_t count) const {
    return (count - discounts_(count) + left_[given] * kinds_[found] / pairs_) / counts_[given];
  }

 private:
  const Discounts& discounts_;
  std::vector<double> counts_, left_;  // [given] how often it occurs, and what was taken away
  std::vector<double> kinds_;          // [found] different phrases that it was seen with
  double pairs_ = 0;
};

class Extractor {
 public:
  Extractor(const AlignedText& text, const ExtractionOptions& options)
      : text_(text), options_(options), lexicon_(count_links(text)) {}

  PhraseTableArrays run() {
    for (Index n = 0; n < text_.pairs; ++n) extract(n);
    return arrange(pairs_.take());
  }

 private:
  // All phrase pairs of a sentence pair, source span by source span.
  void extract(Index n) {
    read_links(n);
    const auto sources = static_cast<Index>(of_source_.size()), targets = static_cast<Index>(of_target_.size());
    heed_(100 * sources * options_.longest);
    for (Index b = 0; b < sources; ++b) {
      Index low = targets, high = 0;
      for (Index e = b + 1; e <= std::min(sources, b + options_.longest); ++e) {
        for (const std::int32_t j : of_source_[e - 1])
          low = std::min<Index>(low, j), high = std::max<Index>(high, j + 1);
        if (high - low > options_.longest) break;
        if (low < high && is_closed(b, e, low, high)) widen(b, e, low, high);
      }
    }
  }
  void read_links(Index n) {
    source_ = {text_.source_words + text_.source_first[n], text_.source_words + text_.source_first[n + 1]};
    target_ = {text_.target_words + text_.target_first[n], text_.target_words + text_.target_first[n + 1]};
    of_source_.assign(source_.size(), {});
    of_target_.assign(target_.size(), {});
    for (Index k = text_.link_first[n]; k < text_.link_first[n + 1]; ++k) {
      of_source_[text_.link_source[k]].push_back(text_.link_target[k]);
      of_target_[text_.link_target[k]].push_back(text_.link_source[k]);
    }
  }
  bool is_closed(Index b, Index e, Index low, Index high) const {
    for (Index j = low; j < high; ++j)
      for (const std::int32_t i : of_target_[j])
        if (i < b || i >= e) return false;
    return true;
  }
  // The target span, and those with words without links at its edges.
  void widen(Index b, Index e, Index low, Index high) {
    for (Index first = low; first >= 0 && high - first <= options_.longest; --first) {
      if (first < low && !of_target_[first].empty()) break;
      for (Index last = high; last - first <= options_.longest; ++last) {
        if (last > high && (last > static_cast<Index>(target_.size()) || !of_target_[last - 1].empty())) break;
        add(b, e, first, last);
      }
    }
  }
  void add(Index b, Index e, Index first, Index last) {
    const std::uint32_t source = sources_.add(source_.subspan(b, e - b));
    const std::uint32_t target = targets_.add(target_.subspan(first, last - first));
    double forward = 0, backward = 0;
    for (Index j = first; j < last; ++j) {
      double sum = of_target_[j].empty() ? lexicon_.forward(LinkLexicon::kNone, target_[j]) : 0;
      for (const std::int32_t i : of_target_[j]) sum += lexicon_.forward(source_[i], target_[j]);
      forward += std::log(sum / static_cast<double>(std::max<std::size_t>(1, of_target_[j].size())));
    }
    for (Index i = b; i < e; ++i) {
      double sum = of_source_[i].empty() ? lexicon_.backward(source_[i], LinkLexicon::kNone) : 0;
      for (const std::int32_t j : of_source_[i]) sum += lexicon_.backward(source_[i], target_[j]);
      backward += std::log(sum / static_cast<double>(std::max<std::size_t>(1, of_source_[i].size())));
    }
    PairCounts::Slot& slot = pairs_.add(source, target);
    const bool is_new = slot.count == 1;
    slot.forward = is_new ? static_cast<float>(forward) : std::max(slot.forward, static_cast<float>(forward));
    slot.backward = is_new ? static_cast<float>(backward) : std::max(slot.backward, static_cast<float>(backward));
  }

  // The table: source phrases in order, the best translations of each.
  PhraseTableArrays arrange(std::vector<PairCounts::Slot> slots) const {
    std::vector<std::uint32_t> counts;
    counts.reserve(slots.size());
    for (const PairCounts::Slot& slot : slots) counts.push_back(slot.count);
    const Discounts discounts = compute_discounts(counts);
    SmoothedShares forward(discounts, sources_.size(), targets_.size());
    SmoothedShares backward(discounts, targets_.size(), sources_.size());
    for (const PairCounts::Slot& slot : slots) {
      forward.add(slot.key >> 32, slot.key & 0xffffffff, slot.count);
      backward.add(slot.key & 0xffffffff, slot.key >> 32, slot.count);
    }
    std::vector<std::uint32_t> rank(sources_.size()), order(sources_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto x = sources_.list(a), y = sources_.list(b);
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    });
    for (std::size_t n = 0; n < order.size(); ++n) rank[order[n]] = static_cast<std::uint32_t>(n);
    std::sort(slots.begin(), slots.end(), [&](const PairCounts::Slot& a, const PairCounts::Slot& b) {
      if (a.key >> 32 != b.key >> 32) return rank[a.key >> 32] < rank[b.key >> 32];
      if (a.count != b.count) return a.count > b.count;
      const double x = a.forward + a.backward, y = b.forward + b.backward;
      return x != y ? x > y : a.key < b.key;
    });
    PhraseTableArrays made;
    for (std::size_t n = 0; n < slots.size();) {
      const std::uint32_t source = slots[n].key >> 32;
      const auto words = sources_.list(source);
      made.phrase_words.insert(made.phrase_words.end(), words.begin(), words.end());
      made.phrase_first.push_back(static_cast<Index>(made.phrase_words.size()));
      Index kept = 0;
      for (; n < slots.size() && slots[n].key >> 32 == source; ++n)
        if (kept++ < options_.most) add_entry(made, slots[n], forward, backward);
      made.entry_first.push_back(static_cast<Index>(made.translation_first.size()) - 1);
    }
    return made;
  }
  void add_entry(PhraseTableArrays& made, const PairCounts::Slot& slot, const SmoothedShares& forward,
                 const SmoothedShares& backward) const {
    const auto source = static_cast<std::uint32_t>(slot.key >> 32), target = static_cast<std::uint32_t>(slot.key);
    const auto words = targets_.list(target);
    made.translation_words.insert(made.translation_words.end(), words.begin(), words.end());
    made.translation_first.push_back(static_cast<Index>(made.translation_words.size()));
    for (const double score : {std::log(backward.find(target, source, slot.count)), double{slot.backward},
                               std::log(forward.find(source, target, slot.count)), double{slot.forward}})
      made.scores.push_back(static_cast<float>(score));
  }

  const AlignedText& text_;
  const ExtractionOptions& options_;
  LinkLexicon lexicon_;
  PhrasePool sources_, targets_;
  PairCounts pairs_;
  std::span<const Word> source_, target_;
  std::vector<std::vector<std::int32_t>> of_source_, of_target_;  // [words] the other ends of its links
  Heed heed_;
};

}  // namespace

PhraseTableArrays extract_phrases(const AlignedText& text, const ExtractionOptions& options) {
  return Extractor(text, options).run();
}

}  // namespace certus::translate
