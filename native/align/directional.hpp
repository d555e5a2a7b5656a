// Posterior links of one sentence pair under a directional model: each generated word has one link, to a word of the
// other side or to nothing.
#pragma once

#include <array>
#include <vector>

#include "base/types.hpp"

namespace certus::align {

inline constexpr Index kFarthest = 40;              // jumps beyond are as likely as this one
inline constexpr Index kJumps = 2 * kFarthest + 1;  // from -kFarthest to kFarthest
using Jumps = std::array<double, kJumps>;

inline Index find_jump(Index distance) {
  return (distance < -kFarthest ? -kFarthest : distance > kFarthest ? kFarthest : distance) + kFarthest;
}

// What one direction knows of a pair: `generated` words, each from one of `sources` words or from nothing.
struct Emissions {
  Index generated, sources;
  const float* word;     // [generated][sources]: probability of the word from each source, any factor per row
  const float* nothing;  // [generated]: and from nothing
};

class Directional {
 public:
  std::vector<float> links;    // [generated][sources]: posterior probabilities
  std::vector<float> nothing;  // [generated]: of no link
  double log_likelihood = 0;

  // The hidden Markov model of Vogel et al. (1996): the source of a word depends on that of the word before by their
  // distance, also from before the first source and to behind the last. A word that comes from nothing leaves the
  // position as it is (Och & Ney 2003, §2.1.3). Adds `times` expected jumps to `counts` unless that is null.
  void run_hmm(const Emissions& emissions, const Jumps& jumps, float null, double times, double* counts);

  // IBM model 1, and for a tension above 0 the diagonal prior of fast_align (Dyer et al. 2013):
  // the prior of a link falls with exp(-tension * |i/I - j/J|).
  void run_flat(const Emissions& emissions, float null, float tension);

 private:
  void prepare(Index generated, Index sources, const Jumps& jumps, float null);

  std::vector<float> jump_, reversed_;  // jump_[distance + sources]: of all distances that there are, and backwards
  std::vector<float> norm_;             // [sources + 1]: what makes the jumps from a position probabilities
  std::vector<float> forward_, arrived_, backward_, step_, scale_;
  std::vector<float> jump_counts_;
};

}  // namespace certus::align
