#include "learn/crf/data.hpp"

#include <cmath>
#include <numeric>

#include "base/arena.hpp"

#include "base/exponential.hpp"

namespace certus::learn {
namespace {

// x[n] = exp(x[n] - most), for what is not more than 700 below; less than that are the lanes past the labels, if any.
CERTUS_CLONES void exponentiate_clamped(double* x, double most, Index n) {
  const Vec low = Vec{} - 700;
  for (Index k = 0; k < n; k += kLanes) {
    const Vec v = load(x + k) - most;
    store(x + k, exp_vector(v > low ? v : low));
  }
}

// sum[n] += x[n]; whole vectors.
CERTUS_CLONES void add(const double* x, Index n, double* sum) {
  for (Index k = 0; k < n; k += kLanes) store(sum + k, load(sum + k) + load(x + k));
}

std::vector<unsigned char> links(Index labels, const Corpus& corpus, const Label* gold, const CrfChoice& choice) {
  if (choice.all_transitions && choice.min_freq <= 0) return std::vector<unsigned char>(labels * labels, 1);
  std::vector<double> seen(labels * labels, 0.0);
  for (Index s = 0; s < corpus.sentences(); ++s)
    for (Index t = corpus.sentence[s] + 1; t < corpus.sentence[s + 1]; ++t) ++seen[gold[t - 1] * labels + gold[t]];
  std::vector<unsigned char> linked(labels * labels);
  for (std::size_t n = 0; n < seen.size(); ++n) linked[n] = seen[n] > 0 && seen[n] >= choice.min_freq;
  return linked;
}

// The places of each feature in the corpus, in order: a counting sort.
struct Places {
  std::vector<Index> begin;   // [features + 1]
  std::vector<Label> gold;    // the label of the token, or its pair of labels
  std::vector<double> value;  // empty where all are 1

  Places(Index features, const Corpus& corpus, const Label* labels) : begin(features + 1, 0) {
    const Index count = corpus.tokens(), total = corpus.token[count];
    for (Index n = 0; n < total; ++n) ++begin[corpus.features[n] + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    gold.resize(total);
    if (!corpus.values.empty()) value.resize(total);
    for (Index t = 0; t < count; ++t)
      for (Index n = corpus.token[t]; n < corpus.token[t + 1]; ++n) {
        const Index at = next[corpus.features[n]]++;
        gold[at] = labels[t];
        if (!value.empty()) value[at] = corpus.values[n];
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

struct Seen {                   // the labels, or pairs of them, that each feature gets a weight for
  std::vector<Index> begin{0};  // [features + 1]
  std::vector<Label> label;     // increasing within a feature
};

// gold [tokens]: of `labels` labels, or -1 where a token's features are not to count.
Seen seen(Index labels, Index features, const Corpus& corpus, const Label* gold, const CrfChoice& choice) {
  const Places places(features, corpus, gold);
  Seen out;
  std::vector<Label> met;
  std::vector<double> often(labels, 0.0);
  std::vector<unsigned char> here(labels, 0);
  for (Index f = 0; f < features; ++f) {
    met.clear();
    for (Index n = places.begin[f]; n < places.begin[f + 1]; ++n) {
      const Label y = places.gold[n];
      if (y < 0) continue;
      if (!here[y]) met.push_back(y);
      here[y] = 1;
      // The size of a value, so that one that is below zero counts for as much as one above.
      often[y] += places.value.empty() ? 1.0 : std::abs(places.value[n]);
    }
    const bool all = choice.all_states && choice.min_freq <= 0 && !met.empty();
    if (!all) std::sort(met.begin(), met.end());
    if (all)
      for (Label y = 0; y < labels; ++y) out.label.push_back(y);
    else
      for (const Label y : met)
        if (often[y] >= choice.min_freq) out.label.push_back(y);
    for (const Label y : met) often[y] = 0, here[y] = 0;
    out.begin.push_back(static_cast<Index>(out.label.size()));
  }
  return out;
}

// The pair of labels that ends at each token, first labels + second; -1 for the first of a sentence.
std::vector<Label> pairs_of(Index labels, const Corpus& corpus, const Label* gold) {
  std::vector<Label> out(corpus.tokens(), -1);
  for (Index s = 0; s < corpus.sentences(); ++s)
    for (Index t = corpus.sentence[s] + 1; t < corpus.sentence[s + 1]; ++t)
      out[t] = static_cast<Label>(gold[t - 1] * labels + gold[t]);
  return out;
}

// For m states per label, each of which has weights of its own.
CrfLayout pair_layout(Index labels, Index m, Index features, const Corpus& corpus, const Label* gold,
                      const CrfChoice& choice) {
  const Seen found = seen(labels * labels, features, corpus, pairs_of(labels, corpus, gold).data(), choice);
  const Index W = whole_vectors(labels * m);
  std::vector<Index> begin;
  std::vector<Label> column;
  column.reserve(found.label.size() * m * m);
  begin.reserve(found.begin.size());
  for (const Index at : found.begin) begin.push_back(at * m * m);
  for (Index f = 0; f < features; ++f) {
    for (Index n = found.begin[f]; n < found.begin[f + 1]; ++n) {
      const Index i = found.label[n] / labels * m, j = found.label[n] % labels * m;
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b) column.push_back(static_cast<Label>((i + a) * W + j + b));
    }
    std::sort(column.begin() + begin[f], column.end());
  }
  return CrfLayout(labels * m * W, begin, column, {});
}

}  // namespace

CrfLayout crf_layout(Index labels, Index features, const Corpus& corpus, const Label* gold, const CrfChoice& choice) {
  Seen found = seen(labels, features, corpus, gold, choice);
  if (choice.latent == 1) return CrfLayout(labels, found.begin, found.label, links(labels, corpus, gold, choice));
  for (Index& begin : found.begin) begin *= choice.latent;
  return CrfLayout(labels * choice.latent, found.begin, states_of(found.label, choice.latent),
                   links_of_states(labels, links(labels, corpus, gold, choice), choice.latent));
}

CrfPairs::CrfPairs(Index labels, Index features, const Corpus& corpus, const Label* gold, const CrfChoice& choice)
    : sharing(choice.shared_pairs ? choice.latent : 1),
      count(labels * choice.latent / sharing),
      width(whole_vectors(count)),
      layout(pair_layout(labels, choice.latent / sharing, features, corpus, gold, choice)),
      input(layout, corpus) {}

void CrfData::score_steps(const double* w, Index sentence, double* scores) const {
  const Index first = input.sentence_begin[sentence], size = layout.labels() * layout.width();
  const Index m = pairs->sharing, W = layout.width();
  const LocalArena arena;
  double* of_labels = arena.get<double>(pairs->layout.width());
  double* row = arena.get<double>(W, 0.0);
  for (Index t = 1; t < input.length(sentence); ++t) {
    double* step = scores + (t - 1) * size;
    crf_score(pairs->layout, w + layout.size(), pairs->input, first + t, m > 1 ? of_labels : step);
    if (m > 1)
      for (Index y = 0; y < pairs->count; ++y) {
        for (Index z = 0; z < pairs->count; ++z) std::fill_n(row + z * m, m, of_labels[y * pairs->width + z]);
        for (Index k = 0; k < m; ++k) std::copy_n(row, W, step + (y * m + k) * W);
      }
    add(w + layout.transitions(), size, step);
  }
}

CrfFactors CrfData::factors(const double* w, Index sentence, double* factor, double* gold_score) const {
  const Index first = input.sentence_begin[sentence], m = pairs->sharing, L = pairs->count, W = layout.width();
  const Label* y = labels(sentence);
  const LocalArena arena;
  double* scores = arena.get<double>(pairs->layout.width());
  CrfFactors out{L, m, factor, 0, 0};
  for (Index t = 1; t < input.length(sentence); ++t) {
    crf_score(pairs->layout, w + layout.size(), pairs->input, first + t, scores);
    *gold_score += scores[y[t - 1] * pairs->width + y[t]];
    double most = scores[0], least = scores[0];
    for (Index i = 0; i < L; ++i) {
      const auto [low, high] = std::minmax_element(scores + i * pairs->width, scores + i * pairs->width + L);
      most = std::max(most, *high), least = std::min(least, *low);
    }
    out.largest += most;
    out.range = std::max(out.range, most - least);
    exponentiate_clamped(scores, most, pairs->layout.width());
    for (Index i = 0; i < L; ++i) {
      double* row = factor + ((t - 1) * L + i) * W;
      for (Index j = 0; j < L; ++j) std::fill_n(row + j * m, m, scores[i * pairs->width + j]);
      std::fill(row + L * m, row + W, 0.0);
    }
  }
  return out;
}

void CrfData::share_pairs(const double* of_states, double* of_labels) const {
  const Index m = pairs->sharing, W = layout.width();
  const LocalArena arena;
  double* row = arena.get<double>(W);
  std::fill_n(of_labels, pairs->layout.width(), 0.0);
  for (Index y = 0; y < pairs->count; ++y) {
    std::copy_n(of_states + y * m * W, W, row);
    for (Index k = 1; k < m; ++k) add(of_states + (y * m + k) * W, W, row);
    for (Index z = 0; z < pairs->count; ++z)
      of_labels[y * pairs->width + z] = std::accumulate(row + z * m, row + (z + 1) * m, 0.0);
  }
}

}  // namespace certus::learn
