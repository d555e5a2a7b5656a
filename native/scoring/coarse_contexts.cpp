#include "scoring/coarse_contexts.hpp"

#include <algorithm>

#include "scoring/cascade.hpp"

namespace certus::scoring {
namespace {

constexpr std::size_t kMostContexts = 512;  // of a position that are looked at one by one

// x[i] = max(x[i], y[i] - z)
void raise_differences(float* __restrict x, const float* __restrict y, float z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] - z > x[i] ? y[i] - z : x[i];
}

}  // namespace

void CoarseContexts::find(const Level& one, const Tagset& tagset, const NgramBounds& bounds, Index order) {
  const Index P = one.positions();
  bounds_ = &bounds, order_ = order;
  excess_.assign(P * bounds.groups(), 0), most_.assign(P, 0);
  list_tags(one, tagset);
  pair_begin_.assign(P, 0), triple_begin_.assign(P, 0);
  pairs_.clear(), triples_.clear();
  if (order == 1) {
    std::size_t most = 0;
    for (Index t = 1; t < P; ++t) most = std::max(most, count(t - 1) * count(t));
    pairs_.assign(most, 0);
    return;
  }
  for (Index t = 1; t < P; ++t) {
    find_pairs(t);
    if (order > 2) find_triples(t);
  }
  groups_ = tagset.groups;
  for (Index t = 1; t + 2 < P; ++t) find_excess(t);
}

// An n-gram with a tag that is no candidate's ends two positions later, or three, and so on: by how much the largest is
// above what candidates' tags may add there.
void CoarseContexts::find_excess(Index t) {
  const Index G = bounds_->groups(), P = static_cast<Index>(begin_.size()) - 1;
  double* const excess = excess_.data() + t * G;
  const bool merged = G < groups_;
  for (Index end = t + 2; end <= std::min(t + order_, P - 1); ++end) {
    const Index length = end - t;
    if (merged || length > 3 || has_many(end)) {
      for (Index g = 0; g < G; ++g) excess[g] += static_cast<double>(most_[end]);
      continue;
    }
    most_excess_.assign(G, 0);
    if (length == 2) add_pair_excess(end);
    else add_triple_excess(end);
    for (Index g = 0; g < G; ++g) excess[g] += static_cast<double>(most_excess_[g]);
  }
}

// Of tags that come before two candidates' tags.
void CoarseContexts::add_pair_excess(Index end) {
  const Index G = bounds_->groups();
  std::size_t n = pair_begin_[end];
  Unit row[3];
  for (std::size_t i = 0; i < count(end - 1); ++i)
    for (std::size_t j = 0; j < count(end); ++j, ++n) {
      row[1] = tags(end - 1)[i], row[2] = tags(end)[j];
      if (const float* const weights = bounds_->weigh_first_above(row)) {
        raise_differences(most_excess_.data(), weights, pairs_[n], G);
        continue;
      }
      for (Index g = 0; g < G; ++g) {
        row[0] = static_cast<Unit>(g);
        const float longer = order_ > 2 ? bounds_->above_tags(row[0], row[1], row[2]) : 0;
        most_excess_[g] = std::max(most_excess_[g], bounds_->weigh_tags(row, 3) + longer - pairs_[n]);
      }
    }
}

// Of tags that come before three.
void CoarseContexts::add_triple_excess(Index end) {
  const Index G = bounds_->groups();
  std::size_t n = triple_begin_[end];
  Unit row[4];
  for (std::size_t h = 0; h < count(end - 2); ++h)
    for (std::size_t i = 0; i < count(end - 1); ++i)
      for (std::size_t j = 0; j < count(end); ++j, ++n) {
        row[1] = tags(end - 2)[h], row[2] = tags(end - 1)[i], row[3] = tags(end)[j];
        if (const float* const weights = order_ == 3 ? bounds_->weigh_first(row, 4) : nullptr) {
          raise_differences(most_excess_.data(), weights, triples_[n], G);
          continue;
        }
        const float any = bounds_->above_tags(row[1], row[2], row[3]) - triples_[n];
        for (Index g = 0; g < G; ++g) most_excess_[g] = std::max(most_excess_[g], any);
      }
}

void CoarseContexts::list_tags(const Level& one, const Tagset& tagset) {
  begin_.assign(1, 0), tags_.clear(), tag_.resize(one.size());
  for (Index t = 0; t < one.positions(); ++t) {
    const auto first = static_cast<std::ptrdiff_t>(tags_.size());
    for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) {
      const Label y = one.label[s];
      const Unit tag = y == tagset.labels ? static_cast<Unit>(tagset.groups) : tagset.group[y];
      const auto found = std::find(tags_.begin() + first, tags_.end(), tag);
      tag_[s] = static_cast<std::uint32_t>(found - tags_.begin() - first);
      if (found == tags_.end()) tags_.push_back(tag);
    }
    begin_.push_back(tags_.size());
  }
}

// Whether the tags before two of a position are too many.
bool CoarseContexts::has_many(Index t) const {
  std::size_t contexts = count(t) * count(t - 1);
  for (Index d = 2; d <= order_ && d <= t; ++d) contexts *= count(t - d);
  return contexts > kMostContexts;
}

void CoarseContexts::find_pairs(Index t) {
  Unit row[kMostOrder + 1];
  Unit* const last = row + kMostOrder;
  pair_begin_[t] = pairs_.size();
  const bool many = has_many(t);
  for (std::size_t i = 0; i < count(t - 1); ++i)
    for (std::size_t j = 0; j < count(t); ++j) {
      last[-1] = tags(t - 1)[i], last[0] = tags(t)[j];
      const float any = bounds_->above_tags(t, last[-1], last[0]);
      pairs_.push_back(many ? any : std::min(any, find_longer(t, last, 2)));
      most_[t] = std::max(most_[t], any - pairs_.back());
    }
}

void CoarseContexts::find_triples(Index t) {
  Unit row[kMostOrder + 1];
  Unit* const last = row + kMostOrder;
  triple_begin_[t] = triples_.size();
  const bool many = has_many(t);
  for (std::size_t h = 0; t > 1 && h < count(t - 2); ++h)
    for (std::size_t i = 0; i < count(t - 1); ++i)
      for (std::size_t j = 0; j < count(t); ++j) {
        last[-2] = tags(t - 2)[h], last[-1] = tags(t - 1)[i], last[0] = tags(t)[j];
        const float any = bounds_->above_tags(last[-2], last[-1], last[0]);
        triples_.push_back(many ? any : std::min(any, find_longer(t, last, 3)));
        most_[t] = std::max(most_[t], any - triples_.back());
      }
}

// Of `length` tags, the last of which is of position t; there is room for others before. Where the sentence begins,
// longer n-grams are the same ones again.
float CoarseContexts::find_longer(Index t, Unit* last, Index length) const {
  if (length > order_) return 0;
  const Unit* const first = last - length + 1;
  if (length > t) return static_cast<float>(order_ - length + 1) * bounds_->weigh_tags(first, length);
  float most = kNever<float>;
  for (std::size_t i = 0; i < count(t - length); ++i) {
    last[-length] = tags(t - length)[i];
    most = std::max(most, bounds_->weigh_tags(first - 1, length + 1) + find_longer(t, last, length + 1));
  }
  return most;
}

}  // namespace certus::scoring
