// Interpolated modified Kneser-Ney estimation (Chen & Goodman 1999; with the conventions of Heafield et
// al. 2013 for the beginning of sentences and for unknown words).
//
// A sentence is <s> w1 ... wn </s>. The adjusted count a(g) of an n-gram g is how often it occurs, if it is of the
// highest order or begins with <s>; else in how many n-grams one longer it is the suffix: after how many different
// words it occurs. With n_j the number of n-grams of an order whose adjusted count is j, the discounts of this order
// are
//   Y = n_1 / (n_1 + 2 n_2),   D_j = j - (j + 1) Y n_{j+1} / n_j   for j = 1, 2 and 3 (three and more).
// Then, with h' = h without its first word,
//   p(w | h)  = (a(hw) - D(a(hw))) / sum_x a(hx) + b(h) p(w | h'),   b(h) = sum_x D(a(hx)) / sum_x a(hx),
// and below the first order the uniform distribution over all words, </s> and <unk>, but not <s>.
#pragma once

#include <array>

#include "translate/ngrams.hpp"

namespace certus::translate {

// The discounts of one order, by adjusted count (3 stands for more, too).
struct Discounts {
  std::array<double, 4> amount{};  // of count 0 nothing
  std::array<Index, 5> counts{};   // [j] n-grams of adjusted count j, for j = 1 ... 4
  bool computed = false;           // or the fallback, where the counts do not allow to

  double operator()(std::uint32_t count) const { return amount[std::min<std::uint32_t>(count, 3)]; }
};

// The discounts for counts like these; 0 is none.
Discounts compute_discounts(const std::vector<std::uint32_t>& adjusted);

// Sentences, and the n-grams in them.
class NgramCounter {
 public:
  NgramCounter() = default;

  // Adds a sentence, a line each; those without words are skipped. Throws std::invalid_argument, whose message names
  // the line, where a word is one of kSpecial.
  void add_text(std::string_view text);
  // Adds a sentence word by word.
  void add_word(std::string_view word);
  void end_sentence();

  // Counts the n-grams one longer than those before; the first time, of order 1.
  void count_longer();
  // Estimates the probabilities of all n-grams that were counted. Nothing can be counted after that.
  Ngrams estimate();

  Index order() const { return static_cast<Index>(levels_.size()); }
  Index lines = 0, sentences = 0, tokens = 0, blank = 0;  // tokens: words, without <s> and </s>
  const std::vector<Discounts>& discounts() const { return discounts_; }
  Index size(Index order) const { return levels_[order - 1].size(); }
  Index vocabulary() const { return words_.size(); }

 private:
  void start();
  void add_number(Word word);
  void count_words();
  void adjust_counts();
  void estimate_words();
  void estimate_level(Index k);

  WordTable words_;
  std::vector<Word> text_;    // all sentences, each from <s> to </s>
  std::vector<Node> window_;  // [place in text_] the n-gram that begins there; kNone if it would leave the sentence
  std::vector<Level> levels_;
  std::vector<std::vector<std::uint32_t>> counts_;  // [order - 1][n-gram]
  std::vector<std::vector<char>> begins_;           // [order - 1][n-gram] whether it begins with <s>
  std::vector<Discounts> discounts_;                // [order - 1]
  bool open_ = false;                               // whether a sentence is begun
};

}  // namespace certus::translate
