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

// The states of some labels, in their order.
std::vector<Label> states_of(const std::vector<Label>& labels, Index latent) {
  std::vector<Label> out;
  out.reserve(labels.size() * latent);
  for (const Label y : labels)
    for (Index k = 0; k < latent; ++k) out.push_back(static_cast<Label>(y * latent + k));
  return out;
}

std::vector<unsigned char> links_of_states(Index labels, const std::vector<unsigned char>& linked, Index latent) {
  const Index states = labels * latent;
  std::vector<unsigned char> out(states * states);
  for (Index i = 0; i < states; ++i)
    for (Index j = 0; j < states; ++j) out[i * states + j] = linked[i / latent * labels + j / latent];
  return out;
}

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
  if (choice.latent == 1) return CrfLayout(labels, row_begin, row_label, links(labels, tokens, gold, choice));
  for (Index& begin : row_begin) begin *= choice.latent;
  return CrfLayout(labels * choice.latent, row_begin, states_of(row_label, choice.latent),
                   links_of_states(labels, links(labels, tokens, gold, choice), choice.latent));
}

}  // namespace certus
