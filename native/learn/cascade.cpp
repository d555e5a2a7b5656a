#include "learn/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "vector.hpp"

namespace certus::learn {
namespace {

// exp to about 1e-7 relative, for x <= 0; below -87 it stays at the smallest normal number.
CERTUS_INLINE float exp_of(float x) {
  x = x < -87.0f ? -87.0f : x;
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

void Level::clear() {
  begin.assign(1, 0);
  prev.clear(), cur.clear(), label.clear(), full.clear(), coarse.clear(), node.clear();
  from.clear(), edge_begin.assign(1, 0), edge.clear();
}

void Cascade::add_state(Level& level, std::uint32_t prev, std::uint32_t cur, Label label, Key full, Key coarse,
                        float node) {
  level.prev.push_back(prev);
  level.cur.push_back(cur);
  level.label.push_back(label);
  level.full.push_back(full);
  level.coarse.push_back(coarse);
  level.node.push_back(node);
}

void Cascade::begin(Index length) {
  length_ = length;
  Level& zero = levels_[0];
  zero.clear();
  labels.clear();
  label_begin.assign(1, 0);
  group_probability.clear();
  local_log_partition = group_log_partition = 0;
  const Label boundary = static_cast<Label>(tagset_.labels);
  add_state(zero, 0, 0, boundary, mix(1, static_cast<Key>(boundary)), mix(2, static_cast<Key>(tagset_.groups)), 0);
  zero.begin.push_back(1);
}

void Cascade::token(const float* scores) {
  Level& zero = levels_[0];
  expanded_.clear();
  const Index G = tagset_.groups;
  if (G < tagset_.labels) {
    scratch_.assign(scores, scores + G);
    const float most = *std::max_element(scores, scores + G);
    const float sum = exponentiate(scratch_.data(), G, most);
    if (remember) {
      group_log_partition += most + std::log(sum);
      for (Index g = 0; g < G; ++g) group_probability.push_back(scratch_[g] / sum);
    }
    for (Index g = 0; g < G; ++g) {
      if (scratch_[g] < thresholds.groups * sum && scores[g] < most) continue;
      ++groups_kept;
      expanded_.insert(expanded_.end(), tagset_.members.begin() + tagset_.member_begin[g],
                       tagset_.members.begin() + tagset_.member_begin[g + 1]);
    }
  } else {
    expanded_.resize(tagset_.labels);
    for (Index y = 0; y < tagset_.labels; ++y) expanded_[y] = static_cast<Label>(y);
  }
  const Index n = static_cast<Index>(expanded_.size());
  expanded_score_.resize(n);
  float most = kNever<float>;
  for (Index i = 0; i < n; ++i) most = std::max(most, expanded_score_[i] = tagset_.score(expanded_[i], scores));
  scratch_.assign(expanded_score_.begin(), expanded_score_.end());
  const float sum = exponentiate(scratch_.data(), n, most);
  local_log_partition += most + std::log(sum);
  const float least = thresholds.states[0] * sum;
  std::uint32_t number = 0;
  for (Index i = 0; i < n; ++i) {
    const Label y = expanded_[i];
    if (remember) labels.push_back({y, expanded_score_[i], scratch_[i] / sum});
    if (scratch_[i] < least && expanded_score_[i] < most) continue;
    add_state(zero, 0, number++, y, mix(1, static_cast<Key>(y)), mix(2, tagset_.group[y]), expanded_score_[i]);
  }
  if (remember) label_begin.push_back(static_cast<std::uint32_t>(labels.size()));
  zero.begin.push_back(static_cast<std::uint32_t>(zero.label.size()));
}

void Cascade::close() {
  Level& zero = levels_[0];
  const Label boundary = static_cast<Label>(tagset_.labels);
  add_state(zero, 0, 0, boundary, mix(1, static_cast<Key>(boundary)), mix(2, static_cast<Key>(tagset_.groups)), 0);
  zero.begin.push_back(static_cast<std::uint32_t>(zero.label.size()));
}

Level& Cascade::build(Index n, const NgramTable& ngrams) {
  Level& level = levels_[n];
  const Index P = length_ + 2;
  if (n == 1) {
    // The candidates themselves, all of a position joined with all of the next.
    std::swap(level, levels_[0]);
    std::fill(level.prev.begin(), level.prev.end(), 0);
    level.from.resize(level.label.size());
    level.edge_begin.assign(1, 0);
    level.edge.clear();
    for (Index t = 0; t < P; ++t)
      for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
        level.from[s] = t ? level.begin[t - 1] : 0;
        const std::uint32_t count = t ? level.begin[t] - level.begin[t - 1] : 0;
        level.edge_begin.push_back(level.edge_begin.back() + count);
      }
  } else {
    const Level& below = levels_[n - 1];
    level.clear();
    add_state(level, 0, 0, below.label[0], below.full[0], below.coarse[0], below.node[0]);
    level.begin.push_back(1);
    for (Index t = 1; t < P; ++t) {
      for (std::uint32_t s = below.begin[t]; s < below.begin[t + 1]; ++s) {
        if (!kept_[s]) continue;
        const Unit group = group_of(below.label[s]);
        for (std::uint32_t e = below.edge_begin[s]; e < below.edge_begin[s + 1]; ++e) {
          const std::uint32_t source = below.from[s] + (e - below.edge_begin[s]);
          if (!kept_[source]) continue;
          add_state(level, source, s, below.label[s], mix(below.full[source], static_cast<Key>(below.label[s])),
                    mix(below.coarse[source], group), below.node[s] + below.edge[e]);
        }
      }
      level.begin.push_back(static_cast<std::uint32_t>(level.label.size()));
    }
    level.from.assign(level.label.size(), 0);
    level.edge_begin.assign(1, 0);
    level.edge.clear();
    level.edge_begin.push_back(0);
    for (Index t = 1; t < P; ++t)
      for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
        const auto first = level.cur.begin() + level.begin[t - 1], last = level.cur.begin() + level.begin[t];
        const auto range = std::equal_range(first, last, level.prev[s]);
        level.from[s] = static_cast<std::uint32_t>(range.first - level.cur.begin());
        level.edge_begin.push_back(level.edge_begin.back() + static_cast<std::uint32_t>(range.second - range.first));
      }
  }
  level.edge.resize(level.edge_begin.back());
  for (std::uint32_t s = level.begin[1]; s < level.label.size(); ++s) {
    const Key y = static_cast<Key>(level.label[s]);
    const Unit group = group_of(level.label[s]);
    std::uint32_t source = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++source)
      level.edge[e] = ngrams.at(mix(level.full[source], y)) + ngrams.at(mix(level.coarse[source], group));
  }
  return level;
}

void Cascade::sum(Level& level, bool edges) const {
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
    const std::uint32_t first = level.edge_begin[begin], last = level.edge_begin[end];
    float most = kNever<float>;
    for (std::uint32_t s = begin; s < end; ++s)
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e)
        most = std::max(most, level.factor[e] = level.edge[e] + level.node[s]);
    exponentiate(level.factor.data() + first, last - first, most);
    double sum = 0;
    for (std::uint32_t s = begin; s < end; ++s) {
      const double* source = level.alpha.data() + level.from[s];
      double a = 0;
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e) a += *source++ * level.factor[e];
      level.alpha[s] = a;
      sum += a;
    }
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
  level.back.resize(level.label.size());
  level.best[0] = 0;
  for (std::uint32_t s = 1; s < level.label.size(); ++s) {
    std::uint32_t source = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++source) {
      const double x = level.best[source] + static_cast<double>(level.edge[e]);
      if (x > level.best[s]) level.best[s] = x, level.back[s] = source;
    }
    level.best[s] += static_cast<double>(level.node[s]);
  }
  const auto last = level.best.begin() + level.begin[length_ + 1];
  return *std::max_element(last, level.best.end());
}

void Cascade::trace(const Level& level, Label* labels) const {
  const auto last = level.best.begin() + level.begin[length_ + 1];
  std::uint32_t s = static_cast<std::uint32_t>(std::max_element(last, level.best.end()) - level.best.begin());
  for (Index t = length_; t > 0; --t) {
    s = level.back[s];
    labels[t - 1] = level.label[s];
  }
}

void Cascade::prune(Index n, float threshold) {
  Level& level = levels_[n];
  kept_.resize(level.label.size());
  for (std::size_t s = 0; s < kept_.size(); ++s) kept_[s] = level.probability[s] >= threshold;
  maximize(level);
  const auto last = level.best.begin() + level.begin[length_ + 1];
  std::uint32_t s = static_cast<std::uint32_t>(std::max_element(last, level.best.end()) - level.best.begin());
  for (Index t = length_ + 1; t > 0; --t, s = level.back[s]) kept_[s] = 1;
  kept_[0] = 1;
}

}  // namespace certus::learn
