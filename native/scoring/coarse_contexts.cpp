#include "scoring/coarse_contexts.hpp"

#include <algorithm>

#include "scoring/cascade.hpp"

namespace certus::scoring {
namespace {

constexpr std::size_t kMostCoarseTags = 8;  // of a position that are looked at one by one

// x[i] = max(x[i], y[i] - z)
void raise_differences(float* __restrict x, const float* __restrict y, float z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] - z > x[i] ? y[i] - z : x[i];
}

}  // namespace

void CoarseContexts::find(const Level& one, const Tagset& tagset, const NgramBounds& bounds, Index order) {
  const Index P = one.positions();
  bounds_ = &bounds, order_ = order, merged_ = bounds.groups() < tagset.groups;
  excess_.assign(P * bounds.stride(), 0);
  list_tags(one, tagset);
  pair_begin_.assign(P, 0), pairs_.clear();
  if (order == 1) {
    std::size_t most = 0;
    for (Index t = 1; t < P; ++t) most = std::max(most, count(t - 1) * count(t));
    pairs_.assign(most, 0);
    return;
  }
  for (Index t = 1; t < P; ++t) find_pairs(t);
  for (Index t = 1; t + 2 < P; ++t) find_excess(t);
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

void CoarseContexts::find_pairs(Index t) {
  pair_begin_[t] = pairs_.size();
  for (std::size_t i = 0; i < count(t - 1); ++i)
    for (std::size_t j = 0; j < count(t); ++j) pairs_.push_back(find_longer(t, tags(t - 1)[i], tags(t)[j]));
}

// Where the sentence begins, longer n-grams are the same ones again.
float CoarseContexts::find_longer(Index t, Unit before, Unit tag) const {
  const float any = bounds_->above_tags(t, before, tag);
  const Unit row[3] = {0, before, tag};
  if (t == 1) return std::min(any, static_cast<float>(order_ - 1) * bounds_->weigh_tags(row + 1, 2));
  if (count(t - 2) > kMostCoarseTags) return any;
  float most = kNever<float>;
  const float* const weights = bounds_->weigh_first_above(row);
  for (std::size_t i = 0; i < count(t - 2); ++i) {
    const Unit first = tags(t - 2)[i];
    most = std::max(most, weights ? weights[first] : weigh(first, before, tag));
  }
  return std::min(any, most);
}

// The weight of three tags, with what longer n-grams may add.
float CoarseContexts::weigh(Unit first, Unit before, Unit tag) const {
  const Unit row[3] = {first, before, tag};
  return bounds_->weigh_tags(row, 3) + (order_ > 2 ? bounds_->above_tags(first, before, tag) : 0);
}

// By how much the largest weight of an n-gram that ends two positions later is above what candidates' tags allow there.
void CoarseContexts::find_excess(Index t) {
  const Index G = bounds_->groups(), end = t + 2;
  most_excess_.assign(G, 0);
  std::size_t n = pair_begin_[end];
  for (std::size_t i = 0; i < count(end - 1); ++i)
    for (std::size_t j = 0; j < count(end); ++j, ++n) {
      const Unit row[3] = {0, tags(end - 1)[i], tags(end)[j]};
      const float* const weights = bounds_->weigh_first_above(row);
      const float any = bounds_->above_tags(end, row[1], row[2]) - pairs_[n];
      if (weights && !merged_) raise_differences(most_excess_.data(), weights, pairs_[n], G);
      else
        for (Index g = 0; any > 0 && g < G; ++g)
          most_excess_[g] =
              std::max(most_excess_[g], merged_ ? any : weigh(static_cast<Unit>(g), row[1], row[2]) - pairs_[n]);
    }
  std::copy(most_excess_.begin(), most_excess_.end(), excess_.begin() + t * bounds_->stride());
}

}  // namespace certus::scoring
