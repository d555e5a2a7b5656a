#include "translate/phrase_table.hpp"

#include <algorithm>

namespace certus::translate {

PhraseTable::Range PhraseTable::narrow(Range range, Index place, Word word) const {
  // Shorter phrases come before longer ones that begin with them.
  const auto find = [&](Word bound) {
    Index low = range.low, high = range.high;
    while (low < high) {
      const Index middle = low + (high - low) / 2, first = source_first[middle];
      const bool below = source_first[middle + 1] - first <= place || source_words[first + place] < bound;
      (below ? low : high) = below ? middle + 1 : middle;
    }
    return low;
  };
  const Index low = find(word);
  return {low, word == ~Word{0} ? range.high : std::max(low, find(word + 1))};
}

OptionFinder::OptionFinder(const PhraseTable& table, const LanguageModel& model) : table_(table), model_(model) {
  for (Word word = 0; word < table.target.words; ++word)
    known_.push_back(model.vocabulary().find(table.target.spell(word)));
}

double OptionFinder::score_entry(Index entry, const FeatureWeights& weights) const {
  double score =
      weights.phrase - weights.word * static_cast<double>(table_.target_first[entry + 1] - table_.target_first[entry]);
  for (Index f = 0; f < table_.features; ++f)
    score += weights.translation[f] * double{table_.scores[entry * table_.features + f]};
  return score;
}

double OptionFinder::estimate(std::span<const Word> target) const {
  double total = 0;
  State state = kEmpty;
  for (const Word word : target) {
    const Step step = model_.automaton().advance(state, known_[word]);
    total += step.score;
    state = step.state;
  }
  return total;
}

void OptionFinder::finish(SentenceOptions& made, std::int32_t begin, std::int32_t end, double score,
                          Index entry) const {
  made.phrases.begin.push_back(begin);
  made.phrases.end.push_back(end);
  made.phrases.score.push_back(score);
  made.phrases.first.push_back(static_cast<Index>(made.phrases.text.size()));
  made.entry.push_back(entry);
}

void OptionFinder::add_phrases(SentenceOptions& made, PhraseTable::Range range, Index length, std::int32_t begin,
                               const FeatureWeights& weights, Index best) const {
  std::vector<Candidate> found;
  for (Index p = range.low; p < range.high && table_.source_first[p + 1] - table_.source_first[p] == length; ++p)
    for (Index e = table_.entry_first[p]; e < table_.entry_first[p + 1]; ++e) {
      const double score = score_entry(e, weights);
      const std::span<const Word> target(table_.target_words + table_.target_first[e],
                                         table_.target_words + table_.target_first[e + 1]);
      found.push_back({score, score + weights.language_model * estimate(target), e});
    }
  const auto kept = found.begin() + std::min(best, static_cast<Index>(found.size()));
  std::partial_sort(found.begin(), kept, found.end(), [](const Candidate& a, const Candidate& b) {
    return a.estimate != b.estimate ? a.estimate > b.estimate : a.entry < b.entry;
  });
  found.erase(kept, found.end());
  for (const Candidate& one : found) {
    for (Index w = table_.target_first[one.entry]; w < table_.target_first[one.entry + 1]; ++w) {
      made.phrases.text.push_back(table_.target_words[w]);
      made.phrases.target.push_back(known_[table_.target_words[w]]);
    }
    finish(made, begin, static_cast<std::int32_t>(begin + length), one.score, one.entry);
  }
}

Word OptionFinder::number(SentenceOptions& options, const std::string& word) const {
  const Word known = table_.target.find(word);
  if (known != kUnknown) return known;
  auto place = std::find(options.added.begin(), options.added.end(), word);
  if (place == options.added.end()) place = options.added.insert(place, word);
  return static_cast<Word>(table_.target.words + (place - options.added.begin()));
}

std::string_view OptionFinder::spell(const SentenceOptions& options, Word word) const {
  return word < table_.target.words ? table_.target.spell(word)
                                    : std::string_view(options.added[word - table_.target.words]);
}

void OptionFinder::add_words(SentenceOptions& made, std::int32_t begin, std::int32_t end,
                             const std::vector<std::string>& words, double score, Index entry) const {
  for (const std::string& word : words) {
    made.phrases.text.push_back(number(made, word));
    made.phrases.target.push_back(model_.vocabulary().find(word));
  }
  finish(made, begin, end, score, entry);
}

SentenceOptions OptionFinder::find(const std::vector<std::string>& sentence, const std::vector<ForcedTerm>& forced,
                                   const FeatureWeights& weights, Index best) const {
  SentenceOptions made;
  const auto length = static_cast<std::int32_t>(sentence.size());
  made.phrases.words = length;
  std::vector<std::int32_t> owner(length, -1);  // the forced term of each word
  for (std::size_t t = 0; t < forced.size(); ++t)
    std::fill(owner.begin() + forced[t].begin, owner.begin() + forced[t].end, static_cast<std::int32_t>(t));
  for (std::int32_t b = 0; b < length; ++b) {
    if (owner[b] >= 0) {
      const ForcedTerm& term = forced[owner[b]];
      if (term.begin == b)
        add_words(made, b, term.end, term.target,
                  weights.phrase - weights.word * static_cast<double>(term.target.size()), kForced);
      continue;
    }
    PhraseTable::Range range{0, table_.phrases};
    const auto before = made.phrases.size();
    for (std::int32_t e = b; e < length && owner[e] < 0 && range.low < range.high; ++e) {
      const Word word = table_.source.find(sentence[e]);
      range = word == kUnknown ? PhraseTable::Range{0, 0} : table_.narrow(range, e - b, word);
      add_phrases(made, range, e - b + 1, b, weights, best);
      if (e == b && made.phrases.size() == before)
        add_words(made, b, b + 1, {sentence[b]}, weights.phrase - weights.word + weights.unknown * kUnknownScore,
                  kPassedThrough);
    }
  }
  return made;
}

std::vector<double> OptionFinder::describe(const SentenceOptions& options, std::span<const Option> derivation) const {
  std::vector<double> sums(table_.features + kOwn, 0);
  double* own = sums.data() + table_.features;
  State state = model_.begin();
  Index end = 0;
  for (const Option o : derivation) {
    const Index entry = options.entry[o];
    for (Index f = 0; entry >= 0 && f < table_.features; ++f)
      sums[f] += double{table_.scores[entry * table_.features + f]};
    for (const Word word : options.phrases.list_target(o)) {
      const Step step = model_.automaton().advance(state, word);
      own[0] += step.score;
      state = step.state;
    }
    own[1] -= static_cast<double>(std::abs(options.phrases.begin[o] - end));
    own[2] -= static_cast<double>(options.phrases.list_target(o).size());
    own[3] += 1;
    own[4] += entry == kPassedThrough ? kUnknownScore : 0;
    end = options.phrases.end[o];
  }
  own[0] += model_.automaton().advance(state, kEnd).score;
  return sums;
}

}  // namespace certus::translate
