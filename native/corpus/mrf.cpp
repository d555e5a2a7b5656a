#include "corpus/mrf.hpp"

#include <algorithm>

namespace certus::corpus {
namespace {

// Labels that are neither of a word nor observed are no values: whatever such a label gains from those that are close
// to it, one of these gains too.
void list_values(std::vector<Label>& labels, Label none) {
  std::erase_if(labels, [&](Label y) { return y > none; });
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  labels.push_back(none);
}

}  // namespace

void Mrf::build(Index nodes, std::vector<Observed> seen) {
  const std::size_t C = static_cast<std::size_t>(nodes), W = node_of.size();
  word_begin.assign(C + 1, 0);
  for (const Index c : node_of) ++word_begin[c + 1];
  for (std::size_t c = 0; c < C; ++c) word_begin[c + 1] += word_begin[c];
  words.resize(W);
  std::vector<std::size_t> next(word_begin.begin(), word_begin.end() - 1);
  for (std::size_t w = 0; w < W; ++w) words[next[node_of[w]]++] = static_cast<Index>(w);

  std::stable_sort(seen.begin(), seen.end(), [](const Observed& a, const Observed& b) {
    return a.node != b.node ? a.node < b.node : a.label < b.label;
  });
  value_begin.assign(1, 0);
  observed.assign(C, 0);
  std::vector<Label> labels;
  std::vector<Observed> counts;  // of a node
  std::size_t at = 0;
  for (std::size_t c = 0; c < C; ++c) {
    labels.clear();
    counts.clear();
    for (; at < seen.size() && seen[at].node == static_cast<Index>(c); ++at) {
      observed[c] += seen[at].count;
      if (!counts.empty() && counts.back().label == seen[at].label) counts.back().count += seen[at].count;
      else counts.push_back(seen[at]);
    }
    for (const Observed& o : counts) labels.push_back(o.label);
    for (std::size_t k = word_begin[c]; k < word_begin[c + 1]; ++k)
      labels.insert(labels.end(), candidate_label.begin() + static_cast<std::ptrdiff_t>(candidates[words[k]]),
                    candidate_label.begin() + static_cast<std::ptrdiff_t>(candidates[words[k] + 1]));
    list_values(labels, agreement.none());
    for (const Label z : labels) {
      double sum = 0;
      for (const Observed& o : counts) sum += o.count * agreement(o.label, z);
      value.push_back(z);
      prior.push_back(sum);
    }
    value_begin.push_back(value.size());
  }
  candidate_value.reserve(candidate_label.size());
  for (std::size_t w = 0; w < W; ++w) {
    const auto first = value.begin() + static_cast<std::ptrdiff_t>(value_begin[node_of[w]]);
    const auto last = value.begin() + static_cast<std::ptrdiff_t>(value_begin[node_of[w] + 1]);
    for (std::size_t k = candidates[w]; k < candidates[w + 1]; ++k)
      candidate_value.push_back(static_cast<std::uint32_t>(std::lower_bound(first, last, candidate_label[k]) - first));
  }
}

// The score of a node with one of its values; writes the words' choices unless `chosen` is null.
double Mrf::sum(Index node, std::size_t v, const double* u, std::int32_t* chosen) const {
  double total = prior[v];
  for (std::size_t k = word_begin[node]; k < word_begin[node + 1]; ++k) {
    const Index w = words[k];
    double most = kNever<double>;
    for (std::size_t i = candidates[w]; i < candidates[w + 1]; ++i) {
      const double x = agreement(candidate_label[i], value[v]) + u[i];
      if (x > most) {
        most = x;
        if (chosen) chosen[w] = static_cast<std::int32_t>(i - candidates[w]);
      }
    }
    total += most;
  }
  return total;
}

double Mrf::maximize(Index node, const double* u, std::int32_t* chosen, std::int32_t& best) const {
  double most = kNever<double>;
  std::size_t found = value_begin[node];
  for (std::size_t v = value_begin[node]; v < value_begin[node + 1]; ++v)
    if (const double x = sum(node, v, u, nullptr); x > most) most = x, found = v;
  best = static_cast<std::int32_t>(found - value_begin[node]);
  return sum(node, found, u, chosen);
}

}  // namespace certus::corpus
