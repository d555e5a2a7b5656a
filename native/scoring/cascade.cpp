#include "scoring/cascade.hpp"

#include <algorithm>
#include <cmath>
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

constexpr float kMoreEdges = 10;  // by what the threshold of edges rises where they are too many

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
  pruned = limited = false;
  levels_[0].clear();
  labels.clear();
  label_begin.assign(1, 0);
  group_probability.clear();
  rest_.clear();
  add_boundary();
}

void Cascade::close() {
  add_boundary();
  limit_candidates();
}

bool Cascade::is_too_much(Index edges) const { return edges > std::max(kFewEdges, kEdgesPerToken * length_); }

Index Cascade::edges_per_token() const {
  return several ? std::max(kFewEdges / std::max<Index>(length_, 1), kEdgesPerToken) : kEdgesPerToken;
}

void Cascade::limit_candidates() {
  Level& zero = levels_[0];
  Index edges = 0;
  for (Index t = 1; t < length_ + 2; ++t) edges += static_cast<Index>(zero.states(t)) * zero.states(t - 1);
  if (thresholds.states[0] == 0 || !is_too_much(edges)) return;
  std::vector<std::uint8_t>& kept = kept_[0];
  kept.assign(zero.size(), 1);
  const Index most = static_cast<Index>(std::sqrt(edges_per_token()));  // their square are the edges of a position
  for (Index t = 1; t <= length_; ++t)
    keep_largest(zero.node.data() + zero.begin[t], zero.states(t), most, largest_, kept.data() + zero.begin[t]);
  pruned = limited = true;
  Level all;
  std::swap(all, zero);
  zero.clear();
  for (Index t = 0; t < length_ + 2; ++t) {
    for (std::uint32_t s = all.begin[t]; s < all.begin[t + 1]; ++s)
      if (kept[s])
        add_state(zero, all.prev[s], all.cur[s], all.label[s], all.full[s], all.coarse[s],
                  static_cast<float>(all.node[s]));
      else if (bounds) raise_rest(t, all.label[s], static_cast<float>(all.node[s]));
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
  limited = limited || is_too_much(edges);
  const Index most = static_cast<Index>(std::cbrt(edges_per_token()));
  for (Index t = 1; is_too_much(edges) && t <= length_; ++t)
    keep_largest(sums.probability.data() + level.begin[t], level.states(t), most, largest_,
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
  expanded_score_.resize(size + NgramBounds::kBlock);  // which may be read, and does not count
  Index i = 0;
  for (const Index g : groups_) {
    const Label* const first = tagset_.members.data() + tagset_.member_begin[g];
    const Index count = tagset_.member_begin[g + 1] - tagset_.member_begin[g];
    std::copy_n(first, count, expanded_.data() + i);
    expand_group(tagset_, g, scores, expanded_score_.data() + i);
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
  expanded_score_.resize(expanded_.size() + NgramBounds::kBlock);
  for (std::size_t i = 0; i < expanded_.size(); ++i) expanded_score_[i] = tagset_.score(expanded_[i], scores);
}

Index Cascade::token(const float* scores, const Allowed& allowed) {
  if (allowed.count < 0) expand(scores);
  else expand(scores, allowed);
  Level& zero = levels_[0];
  const Index n = static_cast<Index>(expanded_.size());
  heed_(16 * n);
  const float most = lattice::find_largest(expanded_score_.data(), n);
  scratch_.assign(expanded_score_.begin(), expanded_score_.begin() + n);
  const float sum = exponentiate(scratch_.data(), n, most);
  const float least = thresholds.states[0] * sum;
  std::uint32_t number = 0;
  const auto keep = [&](Index i) {
    const Label y = expanded_[i];
    add_state(zero, 0, number++, y, mix(1, static_cast<Key>(y)), mix(2, tagset_.group[y]), expanded_score_[i]);
    if (bounds) expanded_score_[i] = kNever<float>;
  };
  for (Index i = 0; i < n; ++i) {
    if (remember) labels.push_back({expanded_[i], expanded_score_[i], scratch_[i] / sum});
    if (scratch_[i] >= least) keep(i);
  }
  if (number == 0 && n) keep(first_largest(scratch_));
  pruned = pruned || number < n;
  if (bounds) find_rest(scores, allowed);
  if (remember) label_begin.push_back(static_cast<std::uint32_t>(labels.size()));
  zero.begin.push_back(as_number(zero.size()));
  return number;
}

Level& Cascade::build(Index n, const NgramTable& ngrams) {
  Level& level = levels_[n];
  if (n == 1) join_candidates(level);
  else merge_states(level, n);
  level.edge.resize(level.edge_begin.back());
  score_edges(level, ngrams, n);
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
void Cascade::merge_states(Level& level, Index n) {
  const Level& below = levels_[n - 1];
  const std::vector<std::uint8_t>& kept = kept_[n - 1];
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
        if (kept[source] && below.edge[e] != kNever<float> && kept_edge(n - 1, e))
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

// Asks for the memory of a position's n-grams before any is read.
void Cascade::score_edges(Level& level, const NgramTable& ngrams, Index n) {
  const std::uint8_t* const allowed = n == 1 ? legal : nullptr;
  const std::size_t L = static_cast<std::size_t>(tagset_.labels) + 1;
  for (Index t = 1; t < length_ + 2; ++t) {
    const std::uint32_t edges = level.edge_begin[level.begin[t + 1]] - level.edge_begin[level.begin[t]];
    heed_(Index{16} * edges);
    if (keys_.size() <= 2 * std::size_t{edges}) keys_.resize(2 * std::size_t{edges} + 1);  // two for each, and one more
    asked_ = 0;
    const std::uint32_t before = level.begin[t - 1];
    first_tags_.clear();  // where the sentence begins there are but two tags
    for (std::uint32_t r = before; n == 2 && t > 1 && ngrams.coarse_triples && r < level.begin[t]; ++r)
      first_tags_.push_back(group_of(levels_[1].label[level.prev[r]]));
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      score_tags(level, ngrams, n, s, before);
      ask_labels(level, ngrams, s);
    }
    for (std::size_t i = 0; i < asked_; ++i) level.edge[keys_[i].second] += ngrams.at(keys_[i].first);
    for (std::uint32_t s = level.begin[t]; allowed && s < level.begin[t + 1]; ++s)
      for (std::uint32_t i = 0; i < level.states(t - 1); ++i)
        if (!allowed[static_cast<std::size_t>(level.label[level.from[s] + i]) * L + level.label[s]])
          level.edge[level.edge_begin[s] + i] = kNever<float>;
  }
}

// Asks for the n-grams of edges into a state, as far as they may have a weight.
void Cascade::ask_labels(const Level& level, const NgramTable& ngrams, std::uint32_t s) {
  const Key y = static_cast<Key>(level.label[s]);
  const std::uint32_t count = level.edges(s), first = level.edge_begin[s];
  const Key* const source = level.full.data() + level.from[s];
  if (!ngrams.filter) {
    auto* const keys = keys_.data() + asked_;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Key full = mix(source[i], y);
      ngrams.prefetch(full);
      keys[i] = {full, first + i};
    }
    asked_ += count;
    return;
  }
  const std::size_t before = asked_;
  for (std::uint32_t i = 0; i < count; ++i) {  // without branches, which nobody could foresee
    const Key full = mix(source[i], y);
    keys_[asked_] = {full, first + i};
    asked_ += ngrams.may_have(full);
  }
  for (std::size_t i = before; i < asked_; ++i) ngrams.prefetch(keys_[i].first);
}

// Scores the edges into a state by coarse tags, or asks for those.
void Cascade::score_tags(Level& level, const NgramTable& ngrams, Index n, std::uint32_t s, std::uint32_t before) {
  const std::size_t G = static_cast<std::size_t>(tagset_.groups) + 1;
  const Unit group = group_of(level.label[s]);
  float* const edge = level.edge.data() + level.edge_begin[s];
  const std::uint32_t first = level.from[s], count = level.edges(s);
  if (n == 1 && ngrams.coarse_pairs) {
    for (std::uint32_t i = 0; i < count; ++i)
      edge[i] = ngrams.coarse_pairs[group_of(level.label[first + i]) * G + group];
  } else if (!first_tags_.empty() && count > 0) {
    const float* const row = ngrams.coarse_triples + (group_of(level.label[first]) * G + group) * G;
    const Unit* const tags = first_tags_.data() + (first - before);
    for (std::uint32_t i = 0; i < count; ++i) edge[i] = row[tags[i]];
  } else {
    auto* const keys = keys_.data() + asked_;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Key coarse = mix(level.coarse[first + i], group);
      ngrams.prefetch(coarse);
      edge[i] = 0, keys[i] = {coarse, level.edge_begin[s] + i};
    }
    asked_ += count;
  }
}

void Cascade::prune(Index n, float threshold, float edge_threshold) {
  const Level& level = levels_[n];
  std::vector<std::uint8_t>& kept = kept_[n];
  kept.assign(level.size(), 1);
  if (threshold > 0) {
    for (std::size_t s = 0; s < kept.size(); ++s) kept[s] = sums.probability[s] >= threshold;
    if (edge_threshold == 0) limit_states(level, kept);  // otherwise there are limits of edges
  }
  trace_back(level, paths, best, [&](Index, std::uint32_t s) { kept[s] = 1; });
  const Index count = static_cast<Index>(paths_to_keep.size()) / std::max<Index>(length_, 1), P = length_ + 2;
  path_states_.resize(count * P);
  for (Index i = 0; i < count; ++i) keep_path(n, &paths_to_keep[i * length_], path_states_.data() + i * P, kept);
  kept_edge_[n].clear();
  if (edge_threshold > 0) keep_edges(n, edge_threshold);
  pruned = pruned || std::find(kept.begin(), kept.end(), 0) != kept.end();
}

// How many edges the lattice of order n + 1 has: those into each state, with those out of it.
Index Cascade::count_next_edges(Index n) const {
  const Level& level = levels_[n];
  Index count = 0;
  std::vector<std::uint32_t> into(level.size(), 0);
  for (std::uint32_t s = 0; s < level.size(); ++s) {
    if (!kept_[n][s]) continue;
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r) {
      if (!kept_[n][r] || !kept_edge_[n][e]) continue;
      ++into[s];
      count += into[r];
    }
  }
  return count;
}

// Those of paths that stay always do; where the next lattice would have too many edges, the threshold rises.
void Cascade::keep_edges(Index n, float threshold) {
  const Level& level = levels_[n];
  std::vector<std::uint8_t>& kept = kept_edge_[n];
  kept.resize(level.edge.size());
  for (;; threshold *= kMoreEdges, limited = true) {
    for (std::size_t e = 0; e < kept.size(); ++e) kept[e] = sums.edge_probability[e] >= threshold;
    if (!is_too_much(count_next_edges(n))) break;
  }
  const auto keep = [&](std::uint32_t r, std::uint32_t s) { kept[level.edge_begin[s] + (r - level.from[s])] = 1; };
  trace_back(level, paths, best, [&](Index t, std::uint32_t s) {
    if (t > 0) keep(find_source(level, paths, s), s);
  });
  for (auto s = path_states_.begin(); s != path_states_.end(); s += length_ + 2)
    for (Index t = 1; t < length_ + 2; ++t) keep(s[t - 1], s[t]);
  pruned = pruned || std::find(kept.begin(), kept.end(), 0) != kept.end();
}

}  // namespace certus::scoring
