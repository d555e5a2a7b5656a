// Labels that were dropped, or become candidates again, and states that stay.
#include <algorithm>

#include "scoring/cascade.hpp"
#include "scoring/emissions.hpp"

namespace certus::scoring {

using lattice::as_number;

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
