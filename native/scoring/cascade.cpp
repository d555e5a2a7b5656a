#include "scoring/cascade.hpp"

#include <algorithm>
#include <functional>

#include "base/vector.hpp"
#include "scoring/emissions.hpp"

namespace certus::scoring {

using lattice::as_number;
using lattice::exponentiate;

namespace {

// What stays where nothing is probable enough, as before anything was learned.
Index first_largest(const std::vector<float>& x) { return std::max_element(x.begin(), x.end()) - x.begin(); }

// Thresholds bound the average lattice only: of words that nothing is known of, every label is about as probable as any
// other. A sentence whose lattice would have more edges than both of these keeps a number of states per position.
constexpr Index kFewEdges = Index{1} << 20, kEdgesPerToken = Index{1} << 11;
constexpr float kFar = 12;  // below the best candidate, nats: labels that need not be bounded closely
constexpr Index kCandidates = 45, kStates = 12;  // their square, and their cube, are the edges of a position

// Drops all but the `most` largest of x, the first ones of those that are equal.
template <class X>
void keep_largest(const X* x, Index n, Index most, std::vector<double>& scratch, std::uint8_t* kept) {
  if (n <= most) return;
  scratch.assign(x, x + n);
  std::nth_element(scratch.begin(), scratch.begin() + most - 1, scratch.end(), std::greater<>());
  const double least = scratch[static_cast<std::size_t>(most) - 1];
  Index equal = most - std::count_if(x, x + n, [least](X y) { return y > least; });
  for (Index i = 0; i < n; ++i)
    if (!(x[i] > least) && !(x[i] == least && equal-- > 0)) kept[i] = 0;
}

// Of kBlock numbers.
CERTUS_INLINE float fold_largest(float* x) {
  for (Index half = NgramBounds::kBlock / 2; half > 0; half /= 2)
    for (Index w = 0; w < half; ++w) x[w] = x[w + half] > x[w] ? x[w + half] : x[w];
  return x[0];
}

// Of each group the largest score with what neighbours may add: any, or one of those that have a row each, which is
// not looked at where all are below `far`.
CERTUS_CLONES void find_group_maxima(const float* __restrict scores, const float* __restrict around,
                                     const float* const* before, Index befores, const float* const* after, Index afters,
                                     const NgramBounds& bounds, float far, float* __restrict rest,
                                     float* __restrict between) {
  constexpr Index W = NgramBounds::kBlock;
  for (Index g = 0; g < bounds.groups(); ++g) {
    float most[W], most_between[W];
    for (Index w = 0; w < W; ++w) most[w] = most_between[w] = kNever<float>;
    for (Index i = bounds.begin(g); i < bounds.begin(g + 1); i += W)
      for (Index w = 0; w < W; ++w)
        most[w] = scores[i + w] + around[i + w] > most[w] ? scores[i + w] + around[i + w] : most[w];
    rest[g] = between[g] = fold_largest(most);
    if (rest[g] < far) continue;
    for (Index i = bounds.begin(g); i < bounds.begin(g + 1); i += W) {
      float in[W], out[W];
      for (Index w = 0; w < W; ++w) in[w] = out[w] = 0;
      for (Index n = 0; n < befores; ++n)
        for (Index w = 0; w < W; ++w) in[w] = before[n][i + w] > in[w] ? before[n][i + w] : in[w];
      for (Index n = 0; n < afters; ++n)
        for (Index w = 0; w < W; ++w) out[w] = after[n][i + w] > out[w] ? after[n][i + w] : out[w];
      for (Index w = 0; w < W; ++w) {
        const float near = scores[i + w] + in[w] + out[w];
        most_between[w] = near > most_between[w] ? near : most_between[w];
      }
    }
    between[g] = fold_largest(most_between);
  }
}

}  // namespace

Cascade::Cascade(const Tagset& tagset, Index order) : tagset_(tagset), levels_(order + 1) {}

void Cascade::add_state(Level& level, std::uint32_t prev, std::uint32_t cur, Label label, Key full, Key coarse,
                        float node) {
  level.prev.push_back(prev);
  level.cur.push_back(cur);
  level.label.push_back(label);
  level.full.push_back(full);
  level.coarse.push_back(coarse);
  level.node.push_back(node);
}

void Cascade::add_boundary() {
  Level& zero = levels_[0];
  const Label y = static_cast<Label>(tagset_.labels);
  add_state(zero, 0, 0, y, mix(1, static_cast<Key>(y)), mix(2, static_cast<Key>(tagset_.groups)), 0);
  zero.begin.push_back(as_number(zero.size()));
}

void Cascade::begin(Index length) {
  length_ = length;
  pruned = false;
  levels_[0].clear();
  labels.clear();
  label_begin.assign(1, 0);
  group_probability.clear();
  for (auto& states : forced_) states.clear();
  dropped_.clear();
  add_boundary();
}

void Cascade::close() {
  add_boundary();
  limit_candidates();
  if (bounds) find_rests();
}

bool Cascade::is_too_much(Index edges) const { return edges > std::max(kFewEdges, kEdgesPerToken * length_); }

void Cascade::limit_candidates() {
  Level& zero = levels_[0];
  Index edges = 0;
  for (Index t = 1; t < length_ + 2; ++t) edges += static_cast<Index>(zero.states(t)) * zero.states(t - 1);
  if (thresholds.states[0] == 0 || !is_too_much(edges)) return;
  std::vector<std::uint8_t>& kept = kept_[0];
  kept.assign(zero.size(), 1);
  for (Index t = 1; t <= length_; ++t)
    keep_largest(zero.node.data() + zero.begin[t], zero.states(t), kCandidates, largest_, kept.data() + zero.begin[t]);
  pruned = true;
  Level all;
  std::swap(all, zero);
  zero.clear();
  for (Index t = 0; t < length_ + 2; ++t) {
    for (std::uint32_t s = all.begin[t]; s < all.begin[t + 1]; ++s)
      if (kept[s])
        add_state(zero, all.prev[s], all.cur[s], all.label[s], all.full[s], all.coarse[s],
                  static_cast<float>(all.node[s]));
      else if (bounds)
        dropped_[(t - 1) * bounds->places() + bounds->place(all.label[s])] = static_cast<float>(all.node[s]);
    zero.begin.push_back(as_number(zero.size()));
  }
}

void Cascade::limit_states(const Level& level, std::vector<std::uint8_t>& kept) {
  Index edges = 0, before = 1, last = 1;  // states that stay at the two positions before
  for (Index t = 1; t < length_ + 2; ++t) {
    const Index here = std::count(kept.begin() + level.begin[t], kept.begin() + level.begin[t + 1], 1);
    edges += before * last * here;
    before = last, last = here;
  }
  for (Index t = 1; is_too_much(edges) && t <= length_; ++t)
    keep_largest(sums.probability.data() + level.begin[t], level.states(t), kStates, largest_,
                 kept.data() + level.begin[t]);
}

// Leaves those of `groups_` that are probable enough.
float Cascade::keep_groups(const float* scores) {
  scratch_.clear();
  float most = kNever<float>;
  for (const Index g : groups_) {
    scratch_.push_back(scores[g]);
    most = std::max(most, scores[g]);
  }
  const float sum = exponentiate(scratch_.data(), static_cast<Index>(scratch_.size()), most);
  const float least = thresholds.groups * sum;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (scratch_[i] >= least) groups_[kept++] = groups_[i];
  if (kept == 0 && !groups_.empty()) groups_[kept++] = groups_[first_largest(scratch_)];
  pruned = pruned || kept < groups_.size();
  groups_.resize(kept);
  groups_kept += static_cast<Index>(kept);
  return sum;
}

// All labels of the coarse tags that stay, and their scores.
void Cascade::expand(const float* scores) {
  const Index G = tagset_.groups;
  groups_.resize(G);
  for (Index g = 0; g < G; ++g) groups_[g] = g;
  if (G < tagset_.labels) {
    const float sum = keep_groups(scores);
    for (Index g = 0; remember && g < G; ++g) group_probability.push_back(scratch_[g] / sum);
  }
  Index size = 0;
  for (const Index g : groups_) size += tagset_.member_begin[g + 1] - tagset_.member_begin[g];
  expanded_.resize(size);
  expanded_score_.resize(size);
  Index i = 0;
  for (const Index g : groups_) {
    const Label* const first = tagset_.members.data() + tagset_.member_begin[g];
    const Index count = tagset_.member_begin[g + 1] - tagset_.member_begin[g];
    std::copy_n(first, count, expanded_.data() + i);
    if (bounds)
      std::copy_n(dropped_.end() - bounds->places() + bounds->place(*first), count, expanded_score_.data() + i);
    else expand_group(tagset_, g, scores, expanded_score_.data() + i);
    i += count;
  }
}

// Those that are allowed: as if there were no others.
void Cascade::expand(const float* scores, const Allowed& allowed) {
  expanded_.assign(allowed.labels, allowed.labels + allowed.count);
  groups_.clear();
  for (const Label y : expanded_) groups_.push_back(tagset_.group[y]);
  std::sort(groups_.begin(), groups_.end());
  groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
  if (tagset_.groups < tagset_.labels) {
    keep_groups(scores);
    std::erase_if(expanded_, [&](Label y) {
      return !std::binary_search(groups_.begin(), groups_.end(), static_cast<Index>(tagset_.group[y]));
    });
  }
  expanded_score_.resize(expanded_.size());
  for (std::size_t i = 0; i < expanded_.size(); ++i) expanded_score_[i] = tagset_.score(expanded_[i], scores);
}

// The scores of all labels that are allowed.
void Cascade::list_scores(const float* scores, const Allowed& allowed) {
  const std::size_t first = dropped_.size();
  dropped_.resize(first + bounds->places(), kNever<float>);
  float* const row = dropped_.data() + first;
  if (allowed.count < 0)
    for (Index g = 0; g < tagset_.groups; ++g)
      expand_group(tagset_, g, scores, row + bounds->place(tagset_.members[tagset_.member_begin[g]]));
  else
    for (Index i = 0; i < allowed.count; ++i)
      row[bounds->place(allowed.labels[i])] = tagset_.score(allowed.labels[i], scores);
}

// What n-grams may add with one of the candidates of a position.
void Cascade::list_beside(Index t, const float* (NgramBounds::*of)(Unit) const, std::vector<const float*>& rows) {
  const Level& zero = levels_[0];
  rows.clear();
  for (std::uint32_t s = zero.begin[t]; s < zero.begin[t + 1]; ++s) {
    const float* const row = (bounds->*of)(bounds->group(zero.label[s]));
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
}

// Once the candidates of all positions are known.
void Cascade::find_rests() {
  const Index G = bounds->groups();
  const Level& zero = levels_[0];
  rest_.resize(length_ * G), rest_between_.resize(length_ * G);
  for (Index t = 1; t <= length_; ++t) {
    list_beside(t - 1, &NgramBounds::ending_after, before_rows_);
    list_beside(t + 1, &NgramBounds::leaving_to, after_rows_);
    const double most = *std::max_element(zero.node.begin() + zero.begin[t], zero.node.begin() + zero.begin[t + 1]);
    find_group_maxima(dropped(t), bounds->around(t), before_rows_.data(), static_cast<Index>(before_rows_.size()),
                      after_rows_.data(), static_cast<Index>(after_rows_.size()), *bounds,
                      static_cast<float>(most) - kFar, rest_.data() + (t - 1) * G, rest_between_.data() + (t - 1) * G);
  }
}

Index Cascade::token(const float* scores, const Allowed& allowed) {
  if (bounds) list_scores(scores, allowed);
  if (allowed.count < 0) expand(scores);
  else expand(scores, allowed);
  Level& zero = levels_[0];
  const Index n = static_cast<Index>(expanded_.size());
  heed_(16 * n);
  const float most = lattice::find_largest(expanded_score_.data(), n);
  scratch_.assign(expanded_score_.begin(), expanded_score_.end());
  const float sum = exponentiate(scratch_.data(), n, most);
  const float least = thresholds.states[0] * sum;
  std::uint32_t number = 0;
  const auto keep = [&](Index i) {
    const Label y = expanded_[i];
    add_state(zero, 0, number++, y, mix(1, static_cast<Key>(y)), mix(2, tagset_.group[y]), expanded_score_[i]);
    if (bounds) *(dropped_.end() - bounds->places() + bounds->place(y)) = kNever<float>;
  };
  for (Index i = 0; i < n; ++i) {
    if (remember) labels.push_back({expanded_[i], expanded_score_[i], scratch_[i] / sum});
    if (scratch_[i] >= least) keep(i);
  }
  if (number == 0 && n) keep(first_largest(scratch_));
  pruned = pruned || number < n;
  if (remember) label_begin.push_back(static_cast<std::uint32_t>(labels.size()));
  zero.begin.push_back(as_number(zero.size()));
  return number;
}

Level& Cascade::build(Index n, const NgramTable& ngrams) {
  Level& level = levels_[n];
  if (n == 1) join_candidates(level);
  else merge_states(level, levels_[n - 1], kept_[n - 1]);
  level.edge.resize(level.edge_begin.back());
  score_edges(level, ngrams, n == 1);
  return level;
}

// The candidates themselves, all of a position joined with all of the next.
void Cascade::join_candidates(Level& level) {
  std::swap(level, levels_[0]);
  const std::size_t S = level.size();
  std::fill(level.prev.begin(), level.prev.end(), 0);
  level.from.resize(S);
  level.edge_begin.resize(S + 1);
  level.from[0] = level.edge_begin[0] = level.edge_begin[1] = 0;
  for (Index t = 1; t < length_ + 2; ++t)
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      level.from[s] = level.begin[t - 1];
      level.edge_begin[s + 1] = as_number(std::size_t{level.edge_begin[s]} + level.states(t - 1));
    }
}

// A state for every edge between two states that stay.
void Cascade::merge_states(Level& level, const Level& below, const std::vector<std::uint8_t>& kept) {
  const Index P = length_ + 2;
  level.clear();
  add_state(level, 0, 0, below.label[0], below.full[0], below.coarse[0], 0);
  level.begin.push_back(1);
  for (Index t = 1; t < P; ++t) {
    heed_(Index{16} * (below.edge_begin[below.begin[t + 1]] - below.edge_begin[below.begin[t]]));
    for (std::uint32_t s = below.begin[t]; s < below.begin[t + 1]; ++s) {
      if (!kept[s]) continue;
      const Unit group = group_of(below.label[s]);
      std::uint32_t source = below.from[s];
      for (std::uint32_t e = below.edge_begin[s]; e < below.edge_begin[s + 1]; ++e, ++source)
        if (kept[source] && below.edge[e] != kNever<float>)
          add_state(level, source, s, below.label[s], mix(below.full[source], static_cast<Key>(below.label[s])),
                    mix(below.coarse[source], group), static_cast<float>(below.node[s]) + below.edge[e]);
    }
    level.begin.push_back(as_number(level.size()));
  }
  level.from.assign(level.size(), 0);
  level.edge_begin.push_back(0);
  for (Index t = 1; t < P; ++t)
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      const auto first = level.cur.begin() + level.begin[t - 1], last = level.cur.begin() + level.begin[t];
      const auto range = std::equal_range(first, last, level.prev[s]);
      level.from[s] = static_cast<std::uint32_t>(range.first - level.cur.begin());
      level.edge_begin.push_back(
          as_number(level.edge_begin.back() + static_cast<std::size_t>(range.second - range.first)));
    }
}

// Asks for the memory of a position's n-grams before any is read. `pairs`: the lattice is of order 1.
void Cascade::score_edges(Level& level, const NgramTable& ngrams, bool pairs) {
  const float* const coarse_pairs = pairs ? ngrams.coarse_pairs : nullptr;
  const std::uint8_t* const allowed = pairs ? legal : nullptr;
  const std::size_t L = static_cast<std::size_t>(tagset_.labels) + 1, G = static_cast<std::size_t>(tagset_.groups) + 1;
  for (Index t = 1; t < length_ + 2; ++t) {
    keys_.clear();
    heed_(Index{16} * (level.edge_begin[level.begin[t + 1]] - level.edge_begin[level.begin[t]]));
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      const Key y = static_cast<Key>(level.label[s]);
      const Unit group = group_of(level.label[s]);
      std::uint32_t source = level.from[s];
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++source) {
        const Key full = mix(level.full[source], y);
        ngrams.prefetch(full);
        if (coarse_pairs) {
          keys_.emplace_back(full, 0);
          level.edge[e] = coarse_pairs[group_of(level.label[source]) * G + group];
        } else {
          keys_.emplace_back(full, mix(level.coarse[source], group));
          ngrams.prefetch(keys_.back().second);
        }
      }
    }
    std::uint32_t e = level.edge_begin[level.begin[t]];
    for (const auto& [full, coarse] : keys_) {
      level.edge[e] = ngrams.at(full) + (coarse_pairs ? level.edge[e] : ngrams.at(coarse));
      ++e;
    }
    for (std::uint32_t s = level.begin[t]; allowed && s < level.begin[t + 1]; ++s)
      for (std::uint32_t i = 0; i < level.states(t - 1); ++i)
        if (!allowed[static_cast<std::size_t>(level.label[level.from[s] + i]) * L + level.label[s]])
          level.edge[level.edge_begin[s] + i] = kNever<float>;
  }
}

void Cascade::prune(Index n, float threshold) {
  const Level& level = levels_[n];
  std::vector<std::uint8_t>& kept = kept_[n];
  kept.resize(level.size());
  for (std::size_t s = 0; s < kept.size(); ++s) kept[s] = sums.probability[s] >= threshold;
  if (threshold > 0) limit_states(level, kept);
  trace_back(level, paths, best, [&](Index, std::uint32_t s) { kept[s] = 1; });
  const std::vector<Key>& forced = forced_[n];
  for (Index t = 0; !forced.empty() && t < level.positions(); ++t)
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s)
      if (!kept[s]) kept[s] = std::binary_search(forced.begin(), forced.end(), mix(level.full[s], static_cast<Key>(t)));
  pruned = pruned || std::find(kept.begin(), kept.end(), 0) != kept.end();
}

bool Cascade::is_too_wide(const std::vector<std::pair<Index, Index>>& candidates) const {
  const Level& level = levels_[1];
  std::vector<Index> count(length_ + 2);
  for (Index t = 0; t < length_ + 2; ++t) count[t] = level.states(t);
  for (const auto& [t, i] : candidates) ++count[t];
  Index edges = 0;
  for (Index t = 1; t < length_ + 2; ++t) edges += count[t - 1] * count[t];
  return is_too_much(edges);
}

void Cascade::widen(const std::vector<std::pair<Index, Index>>& candidates,
                    const std::vector<std::vector<std::uint32_t>>& states) {
  for (std::size_t n = 1; n + 1 < levels_.size(); ++n) {
    const Level& level = levels_[n];
    for (const std::uint32_t s : states[n]) kept_[n][s] = 1;
    forced_[n].clear();
    for (Index t = 0; t < level.positions(); ++t)
      for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s)
        if (kept_[n][s]) forced_[n].push_back(mix(level.full[s], static_cast<Key>(t)));
    std::sort(forced_[n].begin(), forced_[n].end());
  }
  Level& zero = levels_[0];
  Level all;
  std::swap(all, levels_[1]);
  zero.clear();
  auto next = candidates.begin();
  for (Index t = 0; t < length_ + 2; ++t) {
    std::uint32_t number = 0;
    for (std::uint32_t s = all.begin[t]; s < all.begin[t + 1]; ++s)
      add_state(zero, 0, number++, all.label[s], all.full[s], all.coarse[s], static_cast<float>(all.node[s]));
    for (; next != candidates.end() && next->first == t; ++next) {
      const Label y = bounds->at(next->second);
      float& score = dropped_[(t - 1) * bounds->places() + next->second];
      add_state(zero, 0, number++, y, mix(1, static_cast<Key>(y)), mix(2, tagset_.group[y]), score);
      score = kNever<float>;
    }
    zero.begin.push_back(as_number(zero.size()));
  }
  find_rests();
}

}  // namespace certus::scoring
