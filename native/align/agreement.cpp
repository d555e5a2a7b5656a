#include "align/agreement.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace certus::align {
namespace {

using Counts = std::array<float, kFertilities>;  // probabilities of each number of words; the last one is "or more"

constexpr float kSure = 1 - 1e-6F;
constexpr float kNegligible = 1e-4F;  // a word with less does not change a distribution that it is taken out of

void add_word(Counts& counts, float probability) {
  const float p = std::min(probability, kSure);
  counts[kFertilities - 1] += counts[kFertilities - 2] * p;
  for (Index n = kFertilities - 2; n > 0; --n) counts[n] = counts[n] * (1 - p) + counts[n - 1] * p;
  counts[0] *= 1 - p;
}

// The distribution without one of its words: add_word backwards, which is stable for p < 1/2.
Counts take_out(const Counts& counts, float p) {
  Counts rest;
  float before = 0, sum = 0;
  for (Index n = 0; n + 1 < kFertilities; ++n) {
    rest[n] = before = std::max(0.0F, (counts[n] - before * p) / (1 - p));
    sum += before;
  }
  rest[kFertilities - 1] = std::max(0.0F, 1 - sum);
  return rest;
}

// How much likelier one word more makes the fertility.
float find_gain(const Counts& rest, const float* fertility) {
  float with = 0, without = 1e-12F;
  for (Index n = 0; n < kFertilities; ++n) {
    without += rest[n] * fertility[n];
    with += rest[n] * fertility[std::min(n + 1, kFertilities - 1)];
  }
  return with / without + 1e-6F;
}

}  // namespace

void Agreement::run_pass(int d, const Pair& pair, const std::vector<float>& word, const Settings& settings,
                         const Jumps& jumps, double times, double* counts) {
  const Emissions emissions{pair.length[d], pair.length[1 - d], word.data(), pair.nothing[d].data()};
  if (settings.kind == Kind::ibm1) direction[d].run_flat(emissions, settings.null, 0);
  else if (settings.kind == Kind::diagonal) direction[d].run_flat(emissions, settings.null, settings.tension);
  else direction[d].run_hmm(emissions, jumps, settings.null, times, counts);
}

void Agreement::run(const Pair& pair, const Settings& settings, const Jumps jumps[2], double times,
                    double* const counts[2]) {
  const bool twice = settings.kind == Kind::fertility;
  for (int d = 0; d < 2; ++d)
    run_pass(d, pair, pair.word[d], settings, jumps[d], times, twice || !counts ? nullptr : counts[d]);
  if (!twice) return;
  for (int d = 0; d < 2; ++d) multiply_messages(d, pair, settings.agreement);
  for (int d = 0; d < 2; ++d) run_pass(d, pair, word_[d], settings, jumps[d], times, counts ? counts[d] : nullptr);
}

void Agreement::multiply_messages(int d, const Pair& pair, bool agreement) {
  const Index generated = pair.length[d], sources = pair.length[1 - d];
  const std::vector<float>&links = direction[d].links, &other = direction[1 - d].links;
  std::vector<float>& word = word_[d];
  word = pair.word[d];
  for (Index i = 0; i < sources; ++i) {
    Counts all{1};
    for (Index g = 0; g < generated; ++g) add_word(all, links[g * sources + i]);
    const float* fertility = pair.fertility[d][i];
    const float usual = find_gain(all, fertility);
    for (Index g = 0; g < generated; ++g) {
      const float p = links[g * sources + i];
      float gain = usual;
      if (p >= 0.5F) {
        Counts rest{1};
        for (Index h = 0; h < generated; ++h)
          if (h != g) add_word(rest, links[h * sources + i]);
        gain = find_gain(rest, fertility);
      } else if (p > kNegligible) {
        gain = find_gain(take_out(all, p), fertility);
      }
      word[g * sources + i] *= agreement ? gain * std::sqrt(other[i * generated + g] + 1e-3F) : gain;
    }
  }
}

void Agreement::find_fertilities(int d, Index generated, Index sources, std::vector<float>& out) const {
  out.resize(sources * kFertilities);
  for (Index i = 0; i < sources; ++i) {
    Counts all{1};
    for (Index g = 0; g < generated; ++g) add_word(all, direction[d].links[g * sources + i]);
    std::copy(all.begin(), all.end(), out.begin() + i * kFertilities);
  }
}

}  // namespace certus::align
