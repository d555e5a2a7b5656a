#include "translate/hierarchical/grammar_chart.hpp"

#include <algorithm>
#include <unordered_map>

#include "translate/hierarchical/grammar_extraction.hpp"

namespace certus::translate {

GrammarChart::GrammarChart(const PhraseTable& table, const LanguageModel& model)
    : table_(table),
      model_(model),
      source_gap_(table.source.find(kSourceGap)),
      gap_{table.target.find(kFirstGap), table.target.find(kSecondGap)},
      known_(table.target.words) {
  for (Index w = 0; w < table.target.words; ++w) known_[w] = model.vocabulary().find(table.target.spell(w));
}

double GrammarChart::score_entry(Index entry, const FeatureWeights& weights) const {
  double score = weights.phrase;
  for (Index f = 0; f < table_.features; ++f)
    score += weights.translation[f] * double{table_.scores[entry * table_.features + f]};
  for (Index w = table_.target_first[entry]; w < table_.target_first[entry + 1]; ++w)
    if (!is_gap(table_.target_words[w])) score -= weights.word;
  return score;
}

double GrammarChart::estimate(Index entry) const {
  double sum = 0;
  State state = kEmpty;
  for (Index w = table_.target_first[entry]; w < table_.target_first[entry + 1]; ++w) {
    if (is_gap(table_.target_words[w])) {
      state = kEmpty;
      continue;
    }
    const Step step = model_.automaton().advance(state, known_[table_.target_words[w]]);
    sum += step.score;
    state = step.state;
  }
  return sum;
}

// Makes the forest of one sentence.
class GrammarChart::Builder {
 public:
  Builder(const GrammarChart& chart, const std::vector<std::string>& sentence, const FeatureWeights& weights,
          const ChartOptions& options)
      : chart_(chart), weights_(weights), options_(options), words_(static_cast<Index>(sentence.size())) {
    made_.passed = sentence;
    for (const std::string& word : sentence) source_.push_back(chart.table_.source.find(word));
  }

  SentenceForest run() {
    for (Index b = 0; b < words_; ++b) {
      has_word_ = false;
      match({b, b, 0, {0, chart_.table_.phrases}, {}, {}, 0});
      if (!has_word_) pass_through(b);
    }
    add_glue();
    const Index nodes = (words_ + 1) * (words_ + 1) + words_ + 1;
    made_.forest = sort_forest(nodes, number_beginning(words_), heads_, scores_, first_, symbols_);
    return std::move(made_);
  }

 private:
  // What of a source side was matched: from `begin` up to `at`, `place` symbols, these gaps.
  struct Partial {
    Index begin, at, place;
    PhraseTable::Range range;
    std::array<Index, 2> gap_begin, gap_end;
    Index gaps;
  };
  Index number_span(Index b, Index e) const { return b * (words_ + 1) + e; }
  Index number_beginning(Index e) const { return (words_ + 1) * (words_ + 1) + e; }

  // Reads one more word or gap, in all ways.
  void match(const Partial& partial) {
    const PhraseTable& table = chart_.table_;
    if (partial.place > 0 && partial.range.low < partial.range.high &&
        table.source_first[partial.range.low + 1] - table.source_first[partial.range.low] == partial.place)
      add_rules(partial);
    const Index end = std::min(words_, partial.begin + options_.span);
    if (partial.at >= end) return;
    Partial next = partial;
    ++next.place;
    if (source_[partial.at] != kUnknown) {
      next.range = table.narrow(partial.range, partial.place, source_[partial.at]);
      next.at = partial.at + 1;
      if (next.range.low < next.range.high) match(next);
    }
    if (partial.gaps == 2 || chart_.source_gap_ == kUnknown) return;
    next.range = table.narrow(partial.range, partial.place, chart_.source_gap_);
    if (next.range.low >= next.range.high) return;
    next.gap_begin[next.gaps] = partial.at;
    ++next.gaps;
    for (next.at = partial.at + 1; next.at <= end; ++next.at) {
      next.gap_end[next.gaps - 1] = next.at;
      match(next);
    }
  }

  void add_rules(const Partial& partial) {
    if (partial.gaps == 1 && partial.gap_begin[0] == partial.begin && partial.gap_end[0] == partial.at) return;
    has_word_ |= partial.at == partial.begin + 1;
    for (const auto& [score, entry] : choose_entries(partial.range.low)) {
      for (Index w = chart_.table_.target_first[entry]; w < chart_.table_.target_first[entry + 1]; ++w) {
        const Word word = chart_.table_.target_words[w];
        if (chart_.is_gap(word)) {
          const Index gap = word == chart_.gap_[0] ? 0 : 1;
          symbols_.push_back(~number_span(partial.gap_begin[gap], partial.gap_end[gap]));
        } else {
          symbols_.push_back(chart_.known_[word]);
        }
      }
      finish(number_span(partial.begin, partial.at), score, entry, partial.begin, partial.at);
    }
  }
  // The best entries of a source side, which are found once per sentence.
  const std::vector<std::pair<double, Index>>& choose_entries(Index phrase) {
    const auto [place, is_new] = chosen_.try_emplace(phrase);
    if (!is_new) return place->second;
    std::vector<std::array<double, 2>> found;
    const Index first = chart_.table_.entry_first[phrase], last = chart_.table_.entry_first[phrase + 1];
    std::vector<Index> order;
    for (Index entry = first; entry < last; ++entry) {
      const double score = chart_.score_entry(entry, weights_);
      found.push_back({score + weights_.language_model * chart_.estimate(entry), score});
      order.push_back(entry - first);
    }
    std::ranges::stable_sort(order, [&](Index a, Index b) { return found[a][0] > found[b][0]; });
    if (static_cast<Index>(order.size()) > options_.best) order.resize(options_.best);
    for (const Index n : order) place->second.emplace_back(found[n][1], first + n);
    return place->second;
  }

  void pass_through(Index b) {
    symbols_.push_back(chart_.model_.vocabulary().find(made_.passed[b]));
    finish(number_span(b, b + 1), weights_.phrase - weights_.word + weights_.unknown * kUnknownScore, kPassedThrough, b,
           b + 1);
  }
  void add_glue() {
    for (Index e = 0; e <= words_; ++e) {
      if (e == 0 && words_ > 0) continue;
      if (e > 0) symbols_.push_back(~number_span(0, e));
      finish(number_beginning(e), 0, e > 0 ? kGlueOne : kNothing, 0, e);
      for (Index b = std::max<Index>(1, e - options_.span); b < e; ++b) {
        symbols_.push_back(~number_beginning(b));
        symbols_.push_back(~number_span(b, e));
        finish(number_beginning(e), -weights_.distortion, kGlueTwo, 0, e);
      }
    }
  }
  void finish(Index head, double score, Index entry, Index begin, Index end) {
    heads_.push_back(head);
    scores_.push_back(score);
    first_.push_back(static_cast<Index>(symbols_.size()));
    made_.entry.push_back(entry);
    made_.begin.push_back(static_cast<std::int32_t>(begin));
    made_.end.push_back(static_cast<std::int32_t>(end));
  }

  const GrammarChart& chart_;
  const FeatureWeights& weights_;
  const ChartOptions& options_;
  Index words_;
  std::vector<Word> source_;
  bool has_word_ = false;
  std::unordered_map<Index, std::vector<std::pair<double, Index>>> chosen_;
  std::vector<Index> heads_, first_{0};
  std::vector<double> scores_;
  std::vector<Symbol> symbols_;
  SentenceForest made_;
};

SentenceForest GrammarChart::parse(const std::vector<std::string>& sentence, const FeatureWeights& weights,
                                   const ChartOptions& options) const {
  return Builder(*this, sentence, weights, options).run();
}

template <class Visit>
std::size_t GrammarChart::walk(const SentenceForest& forest, const std::vector<Edge>& edges, std::size_t at,
                               const Visit& visit) const {
  const Edge edge = edges[at++];
  const Index entry = forest.entry[edge];
  if (entry == kPassedThrough) visit(edge, kUnknown);
  for (Index parts = entry == kGlueOne ? 1 : entry == kGlueTwo ? 2 : 0; parts > 0; --parts)
    at = walk(forest, edges, at, visit);
  if (entry < 0) return at;
  for (Index w = table_.target_first[entry]; w < table_.target_first[entry + 1]; ++w)
    if (is_gap(table_.target_words[w])) {
      at = walk(forest, edges, at, visit);
    } else {
      visit(edge, table_.target_words[w]);
    }
  return at;
}

std::vector<double> GrammarChart::describe(const SentenceForest& forest, const std::vector<Edge>& edges) const {
  std::vector<double> sums(table_.features + kOwn, 0);
  double* own = sums.data() + table_.features;
  for (const Edge edge : edges) {
    const Index entry = forest.entry[edge];
    for (Index f = 0; entry >= 0 && f < table_.features; ++f)
      sums[f] += double{table_.scores[entry * table_.features + f]};
    own[1] -= entry == kGlueTwo ? 1 : 0;
    own[3] += entry >= 0 || entry == kPassedThrough ? 1 : 0;
    own[4] += entry == kPassedThrough ? kUnknownScore : 0;
  }
  State state = model_.begin();
  walk(forest, edges, 0, [&](Edge edge, Word word) {
    const Word known = forest.entry[edge] == kPassedThrough
                           ? model_.vocabulary().find(forest.passed[forest.begin[edge]])
                           : known_[word];
    const Step step = model_.automaton().advance(state, known);
    own[0] += step.score;
    own[2] -= 1;
    state = step.state;
  });
  own[0] += model_.automaton().advance(state, kEnd).score;
  return sums;
}

std::vector<std::string> GrammarChart::spell(const SentenceForest& forest, const std::vector<Edge>& edges) const {
  std::vector<std::string> words;
  walk(forest, edges, 0, [&](Edge edge, Word word) {
    words.emplace_back(forest.entry[edge] == kPassedThrough ? std::string_view(forest.passed[forest.begin[edge]])
                                                            : table_.target.spell(word));
  });
  return words;
}

}  // namespace certus::translate
