// A source sentence parsed by a hierarchical grammar into a translation forest.
//
// There is a node for each span of at most `span` words that a rule matches, and one for each beginning of the
// sentence, made by glue: of a span alone, or of a shorter beginning and the span after it (Chiang 2007, section 3.1).
#pragma once

#include <array>
#include <string>

#include "translate/hierarchical/target_forest.hpp"
#include "translate/phrase_table.hpp"

namespace certus::translate {

// In place of an entry, beside kPassedThrough: a beginning that is one span, a shorter one and a span, nothing.
inline constexpr Index kGlueOne = -2, kGlueTwo = -3, kNothing = -4;

struct ChartOptions {
  Index span = 10;  // words of what a rule derives
  Index best = 20;  // target sides for each source side
};

struct SentenceForest {
  TargetForest forest;
  std::vector<Index> entry;              // [edges, before they were sorted] of the table, or one of the above
  std::vector<std::int32_t> begin, end;  // [edges] the source words
  std::vector<std::string> passed;       // [words of the source] as they are
};

// Finds the rules of sentences.
class GrammarChart {
 public:
  GrammarChart(const PhraseTable& table, const LanguageModel& model);

  SentenceForest parse(const std::vector<std::string>& sentence, const FeatureWeights& weights,
                       const ChartOptions& options) const;
  // The sums of the features of a derivation: those of the table, then the language model, glue (negative), words
  // (negative), rules, unknown words.
  std::vector<double> describe(const SentenceForest& forest, const std::vector<Edge>& edges) const;
  // The target words of a derivation.
  std::vector<std::string> spell(const SentenceForest& forest, const std::vector<Edge>& edges) const;

  static constexpr Index kOwn = 5;

 private:
  class Builder;

  double score_entry(Index entry, const FeatureWeights& weights) const;
  double estimate(Index entry) const;
  // Calls visit(edge, target word) in the order of the target; the word of what is passed through is kUnknown.
  template <class Visit>
  std::size_t walk(const SentenceForest& forest, const std::vector<Edge>& edges, std::size_t at,
                   const Visit& visit) const;
  bool is_gap(Word word) const { return word == gap_[0] || word == gap_[1]; }

  PhraseTable table_;
  const LanguageModel& model_;
  Word source_gap_;
  std::array<Word, 2> gap_;
  std::vector<Word> known_;  // [target words] as the language model knows them
};

}  // namespace certus::translate
