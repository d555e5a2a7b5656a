// What is computed on a lattice of the cascade: posteriors, best paths, and what to keep of it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vector.hpp"
#include "scoring/cascade.hpp"

namespace certus::learn {
namespace {

constexpr float kFar = -87.0f;  // exp of this is about the smallest normal number

// exp to about 1e-7 relative, for x <= 0; from kFar down it stays where it is.
CERTUS_INLINE float exp_of(float x) {
  x = x < kFar ? kFar : x;
  const float n = std::nearbyint(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

}  // namespace

CERTUS_CLONES float exponentiate(float* x, Index n, float shift) {
  constexpr Index W = 16;
  float sums[W] = {};
  Index i = 0;
  for (; i + W <= n; i += W)
    for (Index w = 0; w < W; ++w) sums[w] += x[i + w] = exp_of(x[i + w] - shift);
  for (; i < n; ++i) sums[0] += x[i] = exp_of(x[i] - shift);
  float sum = 0;
  for (Index w = 0; w < W; ++w) sum += sums[w];
  return sum;
}

CERTUS_CLONES float largest(const float* x, Index n) {
  constexpr Index W = 16;
  float most[W];
  for (Index w = 0; w < W; ++w) most[w] = kNever<float>;
  Index i = 0;
  for (; i + W <= n; i += W)
    for (Index w = 0; w < W; ++w) most[w] = x[i + w] > most[w] ? x[i + w] : most[w];
  for (; i < n; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
  return *std::max_element(most, most + W);
}

// factor[e] = exp(edge + node - the largest of them), for the edges into a position; returns that largest one.
float Cascade::factorize(Level& level, Index t) {
  const std::uint32_t begin = level.begin[t], end = level.begin[t + 1];
  const std::uint32_t first = level.edge_begin[begin], last = level.edge_begin[end];
  scratch_.resize(last - first);
  float* const x = scratch_.data();
  float most = kNever<float>, least = -kNever<float>;
  for (std::uint32_t s = begin; s < end; ++s)
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e) {
      x[e - first] = level.edge[e] + level.node[s];
      most = std::max(most, x[e - first]);
      if (x[e - first] != kNever<float>) least = std::min(least, x[e - first]);
    }
  double* const factor = level.factor.data() + first;
  if (most - least < -kFar) {
    exponentiate(x, last - first, most);
    for (std::uint32_t e = 0; e < last - first; ++e) factor[e] = level.edge[first + e] == kNever<float> ? 0.0 : x[e];
  } else {
    for (std::uint32_t e = 0; e < last - first; ++e) factor[e] = std::exp(static_cast<double>(x[e]) - most);
  }
  return most;
}

void Cascade::sum(Level& level, bool edges) {
  const Index P = length_ + 2;
  const std::size_t S = level.label.size(), E = level.edge.size();
  level.alpha.assign(S, 0);
  level.beta.assign(S, 0);
  level.probability.resize(S);
  level.factor.resize(E);
  level.scale.resize(P);
  level.log_partition = 0;
  level.alpha[0] = 1;
  level.scale[0] = 1;
  for (Index t = 1; t < P; ++t) {
    const std::uint32_t begin = level.begin[t], end = level.begin[t + 1];
    const float most = factorize(level, t);
    double sum = 0;
    for (std::uint32_t s = begin; s < end; ++s) {
      const double* source = level.alpha.data() + level.from[s];
      double a = 0;
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e) a += *source++ * level.factor[e];
      level.alpha[s] = a;
      sum += a;
    }
    sum = std::max(sum, std::numeric_limits<double>::min());  // scores hundreds of nats apart
    for (std::uint32_t s = begin; s < end; ++s) level.alpha[s] /= sum;
    level.scale[t] = 1 / sum;
    level.log_partition += most + std::log(sum);
  }
  if (edges) level.edge_probability.resize(E);
  for (std::uint32_t s = level.begin[P - 1]; s < level.begin[P]; ++s) level.beta[s] = 1;
  for (Index t = P - 1; t > 0; --t)
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      const double on = level.beta[s] * level.scale[t];
      level.probability[s] = level.alpha[s] * level.beta[s];
      std::uint32_t source = level.from[s];
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++source) {
        const double x = level.factor[e] * on;
        level.beta[source] += x;
        if (edges) level.edge_probability[e] = level.alpha[source] * x;
      }
    }
  level.probability[0] = 1;
}

double Cascade::maximize(Level& level) const {
  level.best.assign(level.label.size(), kNever<double>);
  level.back.assign(level.label.size(), 0);
  level.best[0] = 0;
  for (std::uint32_t s = 1; s < level.label.size(); ++s) {
    std::uint32_t source = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++source) {
      const double x = level.best[source] + static_cast<double>(level.edge[e]);
      if (x > level.best[s]) level.best[s] = x, level.back[s] = source;
    }
    level.best[s] += static_cast<double>(level.node[s]);
  }
  return level.best[best_end(level)];
}

std::uint32_t Cascade::best_end(const Level& level) const {
  const auto last = level.best.begin() + level.begin[length_ + 1];
  return static_cast<std::uint32_t>(std::max_element(last, level.best.end()) - level.best.begin());
}

void Cascade::trace(const Level& level, Label* labels) const {
  std::uint32_t s = best_end(level);
  for (Index t = length_; t > 0; --t) {
    s = level.back[s];
    labels[t - 1] = level.label[s];
  }
}

Index Cascade::died(const Level& level) const {
  Index t = 1;
  const auto alive = [](double x) { return x != kNever<double>; };
  while (t < length_ + 1 &&
         std::any_of(level.best.begin() + level.begin[t], level.best.begin() + level.begin[t + 1], alive))
    ++t;
  return t;
}

void Cascade::prune(Index n, float threshold) {
  Level& level = levels_[n];
  kept_.resize(level.label.size());
  for (std::size_t s = 0; s < kept_.size(); ++s) kept_[s] = level.probability[s] >= threshold;
  std::uint32_t s = best_end(level);
  for (Index t = length_ + 1; t > 0; --t, s = level.back[s]) kept_[s] = 1;
  kept_[0] = 1;
  pruned = pruned || std::find(kept_.begin(), kept_.end(), 0) != kept_.end();
}

}  // namespace certus::learn
