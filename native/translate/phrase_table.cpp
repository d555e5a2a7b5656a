#include "translate/phrase_table.hpp"

#include <algorithm>

namespace certus::translate {

PhraseTable::Range PhraseTable::narrow(Range range, Index place, Word word) const {
  // Shorter phrases come before longer ones that begin with them.
  const auto is_below = [&](Index phrase, Word bound) {
    const Index first = source_first[phrase];
    return source_first[phrase + 1] - first <= place || source_words[first + place] < bound;
  };
  const auto find = [&](Index low, Index high, Word bound) {
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const bool below = is_below(middle, bound);
      (below ? low : high) = below ? middle + 1 : middle;
    }
    return low;
  };
  const Index low = find(range.low, range.high, word);
  if (word == ~Word{0}) return {low, range.high};
  Index step = 1;  // most words begin few phrases: their end is near
  while (low + step < range.high && is_below(low + step, word + 1)) step *= 2;
  return {low, find(low + step / 2, std::min(low + step, range.high), word + 1)};
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

// The log probability of the target words of an entry after the first one, without a context before it; never above 0,
// also where weights of back-off would make it so.
double OptionFinder::estimate_rest(Index entry) const {
  const Word *word = table_.target_words + table_.target_first[entry], *const end = table_.target_words +
                                                                                    table_.target_first[entry + 1];
  double total = 0;
  for (State state = model_.automaton().next[known_[*word++]]; word < end; ++word) {
    const Step step = model_.automaton().advance(state, known_[*word]);
    total += step.score;
    state = step.state;
  }
  return std::min(total, 0.0);
}

// Keeps the best candidates, if there are too many. Estimates of the language model take most of the time, and no
// candidate is better with that of all its words than with that of the first: so they come in the order of the latter
// until no other can be among the best.
void OptionFinder::choose_best(std::vector<Candidate>& candidates, double weight, std::size_t best) const {
  const auto is_better = [](const Candidate& a, const Candidate& b) {
    return a.estimate != b.estimate ? a.estimate > b.estimate : a.entry < b.entry;
  };
  std::sort(candidates.begin(), candidates.end(), is_better);
  if (candidates.size() <= best) return;
  std::size_t kept = 0;
  for (Candidate one : candidates) {
    if (kept == best && one.estimate < candidates[kept - 1].estimate) break;
    one.estimate += weight * estimate_rest(one.entry);
    const auto last = candidates.begin() + static_cast<Index>(kept);
    const auto place = std::upper_bound(candidates.begin(), last, one, is_better);
    if (kept == best && place == last) continue;
    std::move_backward(place, kept == best ? last - 1 : last, kept == best ? last : last + 1);
    *place = one;
    kept += kept < best;
  }
  candidates.resize(kept);
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
      const Word first = known_[table_.target_words[table_.target_first[e]]];
      found.push_back({score, score + weights.language_model * model_.automaton().score[first], e});
    }
  choose_best(found, weights.language_model, static_cast<std::size_t>(best));
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
