#include "latent/gain.hpp"

#include <cmath>

#include "base/interrupt.hpp"

namespace certus::latent {
namespace {

// How many elements two sorted lists share.
template <class X>
Index count_shared(const std::vector<X>& a, const std::vector<X>& b) {
  Index count = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) ++count, ++i, ++j;
    else if (*i < *j) ++i;
    else ++j;
  }
  return count;
}

}  // namespace

void Gain::find_spans(const Label* labels, Index T, std::vector<Span>& out) const {
  out.clear();
  Label before = static_cast<Label>(labels_), begin = -1;
  for (Index t = 0; t <= T; ++t) {
    const Label now = t < T ? labels[t] : static_cast<Label>(labels_);
    const Index pair = before * (labels_ + 1) + now;
    if (begin >= 0 && (begins_[pair] || ends_[pair])) {
      out.push_back({begin, static_cast<Label>(t), kind_[before]});
      begin = -1;
    }
    if (begins_[pair]) begin = static_cast<Label>(t);
    before = now;
  }
}

Index Gain::find_best(const Label* sequences, const double* log_probability, Index count, Index T, double* mean) const {
  std::vector<std::vector<Span>> found(labels_ ? count : 0);
  for (Index n = 0; n < count && labels_; ++n) find_spans(sequences + n * T, T, found[n]);
  const auto gain = [&](Index a, Index b) {
    if (labels_) {
      const std::size_t all = found[a].size() + found[b].size();
      return all ? 2 * static_cast<double>(count_shared(found[a], found[b])) / static_cast<double>(all) : 1.0;
    }
    Index equal = 0;
    for (Index t = 0; t < T; ++t) equal += sequences[a * T + t] == sequences[b * T + t];
    return T ? static_cast<double>(equal) / static_cast<double>(T) : 1.0;
  };
  std::vector<double> sum(count, 0.0);
  double mass = 0;
  std::vector<double> p(count);
  for (Index a = 0; a < count; ++a) mass += p[a] = std::exp(log_probability[a]);
  Heed heed;
  for (Index a = 0; a < count; ++a) {
    sum[a] += p[a];  // each is worth 1 where it is right itself
    for (Index b = 0; b < a; ++b, heed(2 * T)) {
      const double x = gain(a, b);  // and as much to another as that to it
      sum[a] += p[b] * x;
      sum[b] += p[a] * x;
    }
  }
  Index first = 0;
  for (Index a = 1; a < count; ++a)
    if (sum[a] > sum[first]) first = a;
  *mean = mass > 0 ? sum[first] / mass : 0;
  return first;
}

}  // namespace certus::latent
