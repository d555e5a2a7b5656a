// Makes phrase tables: of entries in any order, and of the text of Moses's tables.
#pragma once

#include "translate/phrase_table.hpp"

namespace certus::translate {

// The arrays of a PhraseTable.
struct PhraseTableArrays {
  WordTable source, target;
  std::vector<Index> phrase_first{0}, entry_first{0}, translation_first{0};
  std::vector<Word> phrase_words, translation_words;
  std::vector<float> scores;
};

// What the numbers in a file are.
enum class ScoreKind { guessed, probability, log10, natural };

// Reads lines "source ||| target ||| scores", of which more fields may follow.
class PhraseTableReader {
 public:
  explicit PhraseTableReader(ScoreKind kind) : kind_(kind) {}

  // Adds whole lines; throws std::invalid_argument with what is wrong with the line after the last good one.
  void add_text(std::string_view text);
  // Sorts everything. Of entries that differ in their scores only, the first is kept.
  PhraseTableArrays finish();

  Index lines() const { return lines_; }
  Index entries() const { return static_cast<Index>(entries_.size()); }
  Index features() const { return std::max<Index>(features_, 0); }
  bool is_logarithmic() const { return negative_; }

 private:
  struct Entry {
    Index source, target;  // where their words begin in words_
    std::int32_t source_count, target_count;
  };
  void add_line(std::string_view line);
  std::int32_t add_words(std::string_view text, WordTable& table, const char* side);
  void add_scores(std::string_view text);
  float convert(double score) const;

  ScoreKind kind_;
  WordTable source_, target_;
  std::vector<Word> words_;
  std::vector<Entry> entries_;
  std::vector<double> scores_;  // [entries * features] as they stand in the file
  Index lines_ = 0, features_ = -1;
  bool negative_ = false;
};

}  // namespace certus::translate
