// A language model that answers: texts in, log probabilities out.
#pragma once

#include <span>

#include "base/lazy.hpp"
#include "translate/automaton.hpp"
#include "translate/word_bounds.hpp"

namespace certus::translate {

// Sentences as numbers of words, one after the other.
struct Sentences {
  std::vector<Word> words;
  std::vector<Index> first{0};  // [sentences + 1] where each begins
};

// What the words of some text cost.
struct WordScores {
  std::vector<double> score;          // [words and ends of sentences]
  std::vector<std::int32_t> length;   // of the n-gram that the score is of
  std::vector<std::uint8_t> unknown;  // whether the word is none of the vocabulary
};

// Totals over some text.
struct Likelihood {
  Index sentences = 0, tokens = 0, unknown = 0, blank = 0;  // tokens: words and ends of sentences
  double known_score = 0, unknown_score = 0;                // of known words and ends of sentences, and of the others
};

// How the ends of a sentence are read.
struct Ends {
  bool begin = true, end = true;  // whether it is after <s>, and whether </s> follows
};

class LanguageModel {
 public:
  LanguageModel(const Vocabulary& vocabulary, const Automaton& automaton)
      : vocabulary_(vocabulary), automaton_(automaton), begin_(automaton.next[kBegin]) {}

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const Automaton& automaton() const { return automaton_; }
  State begin() const { return begin_; }  // after <s>
  const WordBounds& bounds() const {      // made on first use
    return bounds_.get([&] { return std::make_unique<WordBounds>(automaton_); });
  }

  // The log probability of each sentence, into scores[sentence].
  void score_sentences(const Sentences& sentences, Ends ends, double* scores) const;
  // Of each word of one sentence.
  WordScores score_words(std::span<const Word> words, Ends ends) const;
  // Adds up whole lines; those without words are skipped.
  void add_text(std::string_view text, Likelihood& total) const;
  void add_sentences(const Sentences& sentences, Likelihood& total) const;

 private:
  Vocabulary vocabulary_;
  Automaton automaton_;
  State begin_;
  Lazy<WordBounds> bounds_;
};

}  // namespace certus::translate
