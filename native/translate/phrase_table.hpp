// A phrase table: source phrases in the order of their words' numbers, each with its translations and their scores.
#pragma once

#include <string>

#include "translate/phrases.hpp"

namespace certus::translate {

// Arrays that somebody else owns; every number in them is within its range.
struct PhraseTable {
  Vocabulary source, target;
  Index phrases = 0, entries = 0, features = 0;
  const Index* source_first = nullptr;  // [phrases + 1]
  const Word* source_words = nullptr;
  const Index* entry_first = nullptr;   // [phrases + 1]
  const Index* target_first = nullptr;  // [entries + 1]
  const Word* target_words = nullptr;
  const float* scores = nullptr;  // [entries * features] natural logarithms

  struct Range {
    Index low, high;
  };
  // The phrases among some that have a word at a place, given that they share all words before it.
  Range narrow(Range range, Index place, Word word) const;
};

// What a translation's features weigh.
struct FeatureWeights {
  std::vector<double> translation;  // [features]
  double language_model = 0, word = 0, phrase = 0, unknown = 0, distortion = 0;
};
inline constexpr double kUnknownScore = -100;  // of a word that is passed through, as in Moses

// A span that must be translated by these words.
struct ForcedTerm {
  std::int32_t begin, end;
  std::vector<std::string> target;
};

inline constexpr Index kPassedThrough = -1, kForced = -2;  // in place of an entry

// The options of a sentence.
struct SentenceOptions {
  PhraseOptions phrases;
  std::vector<Index> entry;        // [options] in the table, or one of the above
  std::vector<std::string> added;  // target words that the table lacks, by number after the last of its own
};

// Chooses the best phrases for each span, by their weighted score and an estimate of the language model.
class OptionFinder {
 public:
  OptionFinder(const PhraseTable& table, const LanguageModel& model);

  SentenceOptions find(const std::vector<std::string>& sentence, const std::vector<ForcedTerm>& forced,
                       const FeatureWeights& weights, Index best) const;
  std::string_view spell(const SentenceOptions& options, Word word) const;
  Word number(SentenceOptions& options, const std::string& word) const;
  // The sum of the features of some phrases: those of the table, then the language model, distortion, words (negative),
  // phrases, unknown words.
  std::vector<double> describe(const SentenceOptions& options, std::span<const Option> derivation) const;
  static constexpr Index kOwn = 5;  // features beside those of the table

  const PhraseTable& table() const { return table_; }
  const LanguageModel& model() const { return model_; }

 private:
  struct Candidate {
    double score, estimate;  // the latter with the language model
    Index entry;
  };
  double score_entry(Index entry, const FeatureWeights& weights) const;
  double estimate_rest(Index entry) const;
  void choose_best(std::vector<Candidate>& candidates, double weight, std::size_t best) const;
  void add_phrases(SentenceOptions& made, PhraseTable::Range range, Index length, std::int32_t begin,
                   const FeatureWeights& weights, Index best) const;
  void add_words(SentenceOptions& made, std::int32_t begin, std::int32_t end, const std::vector<std::string>& words,
                 double score, Index entry) const;
  void finish(SentenceOptions& made, std::int32_t begin, std::int32_t end, double score, Index entry) const;

  PhraseTable table_;
  const LanguageModel& model_;
  std::vector<Word> known_;  // [target words] as the language model knows them
};

}  // namespace certus::translate
