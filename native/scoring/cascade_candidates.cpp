// Labels that were dropped, or become candidates again, and states that stay.
#include <algorithm>

#include "scoring/cascade.hpp"
#include "scoring/emissions.hpp"

namespace certus::scoring {

using lattice::as_number;

void Cascade::set_rest(Index t, Index group, const RestScore& score) {
  rest_row(t, 0)[group] = score.own, rest_row(t, 1)[group] = score.ending, rest_row(t, 2)[group] = score.around;
}

void Cascade::raise_rest(Index t, Label y, float score) {
  const Index place = bounds->place(y), group = bounds->group(y);
  RestScore most = rest(t, group);
  most.raise({score, score + bounds->ending(t)[place], score + bounds->around(t)[place]});
  set_rest(t, group, most);
}

// Bounds what was dropped at a token; the scores of those that stay were replaced by -inf.
void Cascade::find_rest(const float* scores, const Allowed& allowed) {
  const Index t = levels_[0].positions();
  rest_.resize(rest_.size() + static_cast<std::size_t>(kRestRows * bounds->stride()), kNever<float>);
  if (!bounds_rest) return;
  if (allowed.count < 0) return bound_groups(scores, t);
  std::size_t i = 0;
  for (Index n = 0; n < allowed.count; ++n) {
    const Label y = allowed.labels[n];
    if (i < expanded_.size() && expanded_[i] == y) raise_rest(t, y, expanded_score_[i++]);
    else raise_rest(t, y, tagset_.score(y, scores));
  }
}

// By all labels of the coarse tags that stay, and by columns for others.
void Cascade::bound_groups(const float* scores, Index t) {
  const Index G = tagset_.groups;
  float *const own = rest_row(t, 0), *const columns = rest_row(t, 3);
  const float *const ending = bounds->ending(t), *const around = bounds->around(t);
  if (bounds->groups() < G) return bound_merged(scores, t);
  if (G == tagset_.labels) {  // each is a label
    std::copy_n(expanded_score_.data(), G, own);
  } else {
    const GroupBounds::Sums sums = group_bounds->add_up(scores, columns_);
    for (Index g = 0; g < G; ++g) own[g] = sums.own + sums.columns[g];
    std::copy_n(sums.columns, G, columns);
  }
  const float *const most_ending = bounds->most_ending(t), *const most_around = bounds->most_around(t);
  float *const own_ending = rest_row(t, 1), *const own_around = rest_row(t, 2);
  for (Index g = 0; g < G; ++g) own_ending[g] = own[g] + most_ending[g], own_around[g] = own[g] + most_around[g];
  if (G == tagset_.labels) return;
  const float* score = expanded_score_.data();
  for (const Index g : groups_) {
    const Index count = tagset_.member_begin[g + 1] - tagset_.member_begin[g];
    const Index place = bounds->place(tagset_.members[tagset_.member_begin[g]]);
    set_rest(t, g, find_largest_sums(score, ending + place, around + place, count));
    columns[g] = kNever<float>;
    score += count;
  }
}

// Where coarse tags are too many to be told apart.
void Cascade::bound_merged(const float* scores, Index t) {
  const float *const ending = bounds->ending(t), *const around = bounds->around(t);
  RestScore most;
  const float* score = expanded_score_.data();
  for (const Index g : groups_) {
    const Index count = tagset_.member_begin[g + 1] - tagset_.member_begin[g];
    const Index place = bounds->place(tagset_.members[tagset_.member_begin[g]]);
    most.raise(find_largest_sums(score, ending + place, around + place, count));
    score += count;
  }
  set_rest(t, 0, most);
  if (static_cast<Index>(groups_.size()) == tagset_.groups) return;
  const GroupBounds::Sums sums = group_bounds->add_up(scores, columns_);
  auto next = groups_.begin();
  for (Index g = 0; g < tagset_.groups; ++g)
    if (next != groups_.end() && *next == g) ++next;
    else most.raise(group_bounds->find(g, sums.columns[g], scores, ending, around));
  set_rest(t, 0, most);
}

bool Cascade::refine_rest(Index t, Index group, const float* scores) {
  float& columns = rest_row(t, 3)[group];
  if (columns == kNever<float>) return false;
  set_rest(t, group, group_bounds->find(group, columns, scores, bounds->ending(t), bounds->around(t)));
  columns = kNever<float>;
  return true;
}

void Cascade::score_dropped(Index t, Index group, const float* scores, const Allowed& allowed, float* places) const {
  const bool merged = bounds->groups() < tagset_.groups;
  if (allowed.count < 0) {
    for (Index g = merged ? 0 : group; g < (merged ? tagset_.groups : group + 1); ++g)
      expand_group(tagset_, g, scores, places + bounds->place(tagset_.members[tagset_.member_begin[g]]));
  } else {
    std::fill(places + bounds->begin(group), places + bounds->begin(group + 1), kNever<float>);
    for (Index i = 0; i < allowed.count; ++i)
      if (const Label y = allowed.labels[i]; bounds->group(y) == static_cast<Unit>(group))
        places[bounds->place(y)] = tagset_.score(y, scores);
  }
  const Level& one = levels_[1];
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
    if (bounds->group(one.label[s]) == static_cast<Unit>(group)) places[bounds->place(one.label[s])] = kNever<float>;
}

void Cascade::add_candidates(const std::vector<Taken>& taken) {
  if (taken.empty()) return;
  Level all;
  Level& zero = levels_[0];
  std::swap(all, zero);
  zero.clear();
  auto next = taken.begin();
  for (Index t = 0; t < length_ + 2; ++t) {
    std::uint32_t number = 0;
    for (std::uint32_t s = all.begin[t]; s < all.begin[t + 1]; ++s)
      add_state(zero, 0, number++, all.label[s], all.full[s], all.coarse[s], static_cast<float>(all.node[s]));
    for (; next != taken.end() && next->position == t; ++next)
      add_state(zero, 0, number++, next->label, mix(1, static_cast<Key>(next->label)),
                mix(2, tagset_.group[next->label]), next->score);
    zero.begin.push_back(as_number(zero.size()));
  }
}

bool Cascade::has_candidate(Index t, Label label) const {
  const Level& zero = levels_[0];
  const auto end = zero.label.begin() + zero.begin[t + 1];
  return std::find(zero.label.begin() + zero.begin[t], end, label) != end;
}

const double* Cascade::find_score(Index t, Label label) const {
  const Level& one = levels_[1];
  const auto end = one.label.begin() + one.begin[t + 1],
             found = std::find(one.label.begin() + one.begin[t], end, label);
  return found == end ? nullptr : &one.node[found - one.label.begin()];
}

// The states of a path, by those of the level below, which are replaced.
void Cascade::keep_path(Index n, const Label* path, std::uint32_t* states, std::vector<std::uint8_t>& kept) const {
  const Level& level = levels_[n];
  std::uint32_t before = 0;
  for (Index t = 0; t < length_ + 2; ++t) {
    const std::uint32_t below = states[t];
    std::uint32_t s = level.begin[t];
    while (n == 1 ? t > 0 && t <= length_ && level.label[s] != path[t - 1]
                  : t > 0 && (level.prev[s] != before || level.cur[s] != below))
      ++s;
    states[t] = s, before = below;
    kept[s] = 1;
  }
}

}  // namespace certus::scoring
