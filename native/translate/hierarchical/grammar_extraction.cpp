#include "translate/hierarchical/grammar_extraction.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "base/interrupt.hpp"
#include "translate/link_lexicon.hpp"
#include "translate/phrase_pool.hpp"

namespace certus::translate {
namespace {

struct RuleCount {
  double share = 0;
  std::uint32_t occurrences = 0;
  float backward = 0, forward = 0;  // the best lexical probabilities
};

struct InitialPhrase {
  Index begin, end, low, high;  // source and target words, ends excluded
};

class GrammarExtractor {
 public:
  GrammarExtractor(const std::vector<SentencePair>& pairs, WordTable& source, WordTable& target,
                   const GrammarOptions& options)
      : pairs_(pairs),
        options_(options),
        source_gap_(source.add(kSourceGap)),
        target_gap_{target.add(kFirstGap), target.add(kSecondGap)} {}

  PhraseTableArrays run() {
    for (const SentencePair& pair : pairs_) {
      read_links(pair);
      add_words(pair);
    }
    for (const SentencePair& pair : pairs_) {
      read_links(pair);
      extract(pair);
    }
    return arrange();
  }

 private:
  void read_links(const SentencePair& pair) {
    of_source_.assign(pair.source.size(), {});
    of_target_.assign(pair.target.size(), {});
    for (const auto& [i, j] : pair.links) {
      of_source_[i].push_back(j);
      of_target_[j].push_back(i);
    }
  }
  void add_words(const SentencePair& pair) {
    for (const auto& [i, j] : pair.links) lexicon_.add(pair.source[i], pair.target[j]);
    for (std::size_t i = 0; i < pair.source.size(); ++i)
      if (of_source_[i].empty()) lexicon_.add(pair.source[i], LinkLexicon::kNone);
    for (std::size_t j = 0; j < pair.target.size(); ++j)
      if (of_target_[j].empty()) lexicon_.add(LinkLexicon::kNone, pair.target[j]);
  }

  void find_phrases(const SentencePair& pair) {
    phrases_.clear();
    const Index words = static_cast<Index>(pair.source.size());
    for (Index b = 0; b < words; ++b) {
      if (of_source_[b].empty()) continue;
      Index low = static_cast<Index>(pair.target.size()), high = 0;
      for (Index e = b + 1; e <= std::min(words, b + options_.longest); ++e) {
        for (const std::int32_t j : of_source_[e - 1])
          low = std::min<Index>(low, j), high = std::max<Index>(high, j + 1);
        if (high - low > options_.longest) break;
        if (!of_source_[e - 1].empty() && is_closed(b, e, low, high)) phrases_.push_back({b, e, low, high});
      }
    }
  }
  bool is_closed(Index b, Index e, Index low, Index high) const {
    for (Index j = low; j < high; ++j)
      for (const std::int32_t i : of_target_[j])
        if (i < b || i >= e) return false;
    return true;
  }

  void extract(const SentencePair& pair) {
    find_phrases(pair);
    for (const InitialPhrase& whole : phrases_) {
      found_.clear();
      add_rule(pair, whole, {});
      for (std::size_t a = 0; a < phrases_.size(); ++a) {
        const InitialPhrase& first = phrases_[a];
        if (!is_gap(whole, first)) continue;
        add_rule(pair, whole, {&first, 1});
        for (const InitialPhrase& second : phrases_)
          if (second.begin > first.end && is_gap(whole, second)) {
            const InitialPhrase gaps[] = {first, second};
            add_rule(pair, whole, gaps);
          }
      }
      for (const std::uint64_t key : found_) counts_[key].share += 1.0 / static_cast<double>(found_.size());
    }
    heed_(static_cast<Index>(1000 * phrases_.size()));
  }
  bool is_gap(const InitialPhrase& whole, const InitialPhrase& part) const {
    return part.begin >= whole.begin && part.end <= whole.end && part.end - part.begin < whole.end - whole.begin &&
           part.end - part.begin >= options_.least_gap;
  }

  void add_rule(const SentencePair& pair, const InitialPhrase& whole, std::span<const InitialPhrase> gaps) {
    Index symbols = whole.end - whole.begin;
    for (const InitialPhrase& gap : gaps) symbols -= gap.end - gap.begin - 1;
    if (symbols > options_.symbols) return;
    source_side_.clear();
    target_side_.clear();
    bool linked = false;
    double forward = 1, backward = 1;
    for (Index i = whole.begin; i < whole.end; ++i) {
      const Index gap = find_gap(gaps, i, &InitialPhrase::begin, &InitialPhrase::end);
      if (gap >= 0) {
        source_side_.push_back(source_gap_);
        i = gaps[gap].end - 1;
        continue;
      }
      linked |= !of_source_[i].empty();
      source_side_.push_back(pair.source[i]);
      double sum = of_source_[i].empty() ? lexicon_.backward(pair.source[i], LinkLexicon::kNone) : 0;
      for (const std::int32_t j : of_source_[i]) sum += lexicon_.backward(pair.source[i], pair.target[j]);
      backward *= sum / static_cast<double>(std::max<std::size_t>(of_source_[i].size(), 1));
    }
    if (!linked) return;
    for (Index j = whole.low; j < whole.high; ++j) {
      const Index gap = find_gap(gaps, j, &InitialPhrase::low, &InitialPhrase::high);
      if (gap >= 0) {
        target_side_.push_back(target_gap_[gap]);
        j = gaps[gap].high - 1;
        continue;
      }
      target_side_.push_back(pair.target[j]);
      double sum = of_target_[j].empty() ? lexicon_.forward(LinkLexicon::kNone, pair.target[j]) : 0;
      for (const std::int32_t i : of_target_[j]) sum += lexicon_.forward(pair.source[i], pair.target[j]);
      forward *= sum / static_cast<double>(std::max<std::size_t>(of_target_[j].size(), 1));
    }
    count_rule(forward, backward);
  }
  static Index find_gap(std::span<const InitialPhrase> gaps, Index at, Index InitialPhrase::* begin,
                        Index InitialPhrase::* end) {
    for (std::size_t g = 0; g < gaps.size(); ++g)
      if (at >= gaps[g].*begin && at < gaps[g].*end) return static_cast<Index>(g);
    return -1;
  }
  void count_rule(double forward, double backward) {
    const std::uint64_t key = std::uint64_t{sources_.add(source_side_)} << 32 | targets_.add(target_side_);
    RuleCount& rule = counts_[key];
    ++rule.occurrences;
    rule.forward = std::max(rule.forward, static_cast<float>(forward));
    rule.backward = std::max(rule.backward, static_cast<float>(backward));
    found_.push_back(key);
  }

  struct Kept {
    std::uint32_t source, target;
    double share;
    std::array<float, 4> scores;
  };
  PhraseTableArrays arrange() const {
    std::vector<double> of_source(sources_.size()), of_target(targets_.size());
    for (const auto& [key, rule] : counts_) {
      of_source[key >> 32] += rule.share;
      of_target[static_cast<std::uint32_t>(key)] += rule.share;
    }
    std::vector<Kept> kept;
    for (const auto& [key, rule] : counts_) {
      const auto source = static_cast<std::uint32_t>(key >> 32), target = static_cast<std::uint32_t>(key);
      const bool has_gap = std::ranges::find(sources_.list(source), source_gap_) != sources_.list(source).end();
      if (has_gap && rule.occurrences < options_.least_count) continue;
      kept.push_back({source,
                      target,
                      rule.share,
                      {take_log(rule.share / of_target[target]), take_log(rule.backward),
                       take_log(rule.share / of_source[source]), take_log(rule.forward)}});
    }
    sort(kept);
    return write(kept);
  }
  static float take_log(double probability) { return static_cast<float>(std::log(std::max(probability, 1e-12))); }

  // By source side in the order of words, then the most probable target side first.
  void sort(std::vector<Kept>& kept) const {
    std::ranges::sort(kept, [&](const Kept& a, const Kept& b) {
      if (a.source != b.source)
        return std::ranges::lexicographical_compare(sources_.list(a.source), sources_.list(b.source));
      if (a.share != b.share) return a.share > b.share;
      return std::ranges::lexicographical_compare(targets_.list(a.target), targets_.list(b.target));
    });
  }
  PhraseTableArrays write(const std::vector<Kept>& kept) const {
    PhraseTableArrays made;
    Index entries = 0;
    for (std::size_t n = 0; n < kept.size(); ++n) {
      const bool is_new = n == 0 || kept[n].source != kept[n - 1].source;
      if (is_new) {
        if (n > 0) made.entry_first.push_back(static_cast<Index>(made.translation_first.size()) - 1);
        const auto words = sources_.list(kept[n].source);
        made.phrase_words.insert(made.phrase_words.end(), words.begin(), words.end());
        made.phrase_first.push_back(static_cast<Index>(made.phrase_words.size()));
        entries = 0;
      }
      if (++entries > options_.most) continue;
      const auto words = targets_.list(kept[n].target);
      made.translation_words.insert(made.translation_words.end(), words.begin(), words.end());
      made.translation_first.push_back(static_cast<Index>(made.translation_words.size()));
      made.scores.insert(made.scores.end(), kept[n].scores.begin(), kept[n].scores.end());
    }
    if (!kept.empty()) made.entry_first.push_back(static_cast<Index>(made.translation_first.size()) - 1);
    return made;
  }

  const std::vector<SentencePair>& pairs_;
  GrammarOptions options_;
  Word source_gap_;
  std::array<Word, 2> target_gap_;
  LinkLexicon lexicon_;
  PhrasePool sources_, targets_;
  std::unordered_map<std::uint64_t, RuleCount> counts_;
  std::vector<std::vector<std::int32_t>> of_source_, of_target_;
  std::vector<InitialPhrase> phrases_;
  std::vector<Word> source_side_, target_side_;
  std::vector<std::uint64_t> found_;
  Heed heed_;
};

}  // namespace

PhraseTableArrays extract_grammar(const std::vector<SentencePair>& pairs, WordTable& source, WordTable& target,
                                  const GrammarOptions& options) {
  return GrammarExtractor(pairs, source, target, options).run();
}

}  // namespace certus::translate
