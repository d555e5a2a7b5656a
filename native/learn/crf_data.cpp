#include "learn/crf_data.hpp"

#include <cmath>
#include <numeric>

namespace certus {
namespace {

std::vector<unsigned char> links(Index labels, const CrfTokens& tokens, const Label* gold, const CrfChoice& choice) {
  if (choice.all_transitions) return std::vector<unsigned char>(labels * labels, 1);
  std::vector<double> seen(labels * labels, 0.0);
  for (Index s = 0; s < tokens.sentences; ++s)
    for (Index t = tokens.sentence_begin[s] + 1; t < tokens.sentence_begin[s + 1]; ++t)
      ++seen[gold[t - 1] * labels + gold[t]];
  std::vector<unsigned char> linked(labels * labels);
  for (std::size_t n = 0; n < seen.size(); ++n) linked[n] = seen[n] > 0 && seen[n] >= choice.min_freq;
  return linked;
}

// The places of each feature in the corpus, in order: a counting sort.
struct Places {
  std::vector<Index> begin;  // [features + 1]
  std::vector<Label> gold;   // the label of the token
  std::vector<double> value; // empty where all are 1

  Places(Index features, const CrfTokens& tokens, const Label* labels) : begin(features + 1, 0) {
    const Index count = tokens.tokens(), total = tokens.token_begin[count];
    for (Index n = 0; n < total; ++n) ++begin[tokens.feature[n] + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    gold.resize(total);
    if (tokens.value) value.resize(total);
    for (Index t = 0; t < count; ++t)
      for (Index n = tokens.token_begin[t]; n < tokens.token_begin[t + 1]; ++n) {
        const Index at = next[tokens.feature[n]]++;
        gold[at] = labels[t];
        if (tokens.value) value[at] = tokens.value[n];
      }
  }
};

}  // namespace

CrfLayout crf_layout(Index labels, Index features, const CrfTokens& tokens, const Label* gold,
                     const CrfChoice& choice) {
  const Places places(features, tokens, gold);
  std::vector<Index> row_begin{0};
  std::vector<Label> row_label, met;
  std::vector<double> seen(labels, 0.0);
  std::vector<unsigned char> here(labels, 0);
  for (Index f = 0; f < features; ++f) {
    met.clear();
    for (Index n = places.begin[f]; n < places.begin[f + 1]; ++n) {
      const Label y = places.gold[n];
      if (!here[y]) met.push_back(y);
      here[y] = 1;
      // The size of a value, so that one that is below zero counts for as much as one above.
      seen[y] += places.value.empty() ? 1.0 : std::abs(places.value[n]);
    }
    const bool all = choice.all_states && !met.empty();
    if (!all) std::sort(met.begin(), met.end());
    if (all)
      for (Label y = 0; y < labels; ++y) row_label.push_back(y);
    else
      for (const Label y : met)
        if (seen[y] >= choice.min_freq) row_label.push_back(y);
    for (const Label y : met) seen[y] = 0, here[y] = 0;
    row_begin.push_back(static_cast<Index>(row_label.size()));
  }
  return CrfLayout(labels, row_begin, row_label, links(labels, tokens, gold, choice));
}

}  // namespace certus
