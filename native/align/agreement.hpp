// Posterior links of one sentence pair when the two directions listen to each other, and to the fertility of words.
#pragma once

#include "align/directional.hpp"

namespace certus::align {

inline constexpr Index kFertilities = 7;  // 0, 1, ... and 6 or more words from one source word

enum class Kind { ibm1, diagonal, hmm, fertility };

// What a pair's posteriors depend on beside its words.
struct Settings {
  Kind kind = Kind::fertility;
  float null = 0.1F;      // the probability that a word comes from nothing
  float tension = 4;      // of Kind::diagonal
  bool agreement = true;  // whether the directions hear each other, for Kind::fertility
};

// One pair, as both directions see it; index 0 and 1 is the direction, see bitext.hpp.
struct Pair {
  Index length[2];             // of source and target
  std::vector<float> word[2];  // [generated][sources] each
  std::vector<float> nothing[2];
  std::vector<const float*> fertility[2];  // [sources]: kFertilities probabilities of each; used by Kind::fertility
};

class Agreement {
 public:
  Directional direction[2];

  // Finds the posteriors of both directions. Adds `times` expected jumps to `counts` unless these are null.
  //
  // Kind::fertility makes two passes. After the first, a link (i, j) of a direction is multiplied by
  //   E[p(n + 1 | i) / p(n | i)] * sqrt(p_other(i, j) + 0.001)
  // where n is how many other words come from i under the first pass (independent words: a Poisson-binomial
  // distribution), and p_other is the posterior of the other direction: a mean-field step of a model in which
  // directions agree (Liang et al. 2006) and words have fertilities (IBM model 3).
  void run(const Pair& pair, const Settings& settings, const Jumps jumps[2], double times = 0,
           double* const counts[2] = nullptr);

  // Adds the distribution of the fertility of each source word of a direction, [sources][kFertilities].
  void find_fertilities(int d, Index generated, Index sources, std::vector<float>& out) const;

 private:
  void run_pass(int d, const Pair& pair, const std::vector<float>& word, const Settings& settings, const Jumps& jumps,
                double times, double* counts);
  void multiply_messages(int d, const Pair& pair, bool agreement);

  std::vector<float> word_[2];
};

}  // namespace certus::align
