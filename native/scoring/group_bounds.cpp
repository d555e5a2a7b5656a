#include "scoring/group_bounds.hpp"

#include <map>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

constexpr Index kLanes = NgramBounds::kBlock;

CERTUS_INLINE float fold_largest(float* x) {
  for (Index half = kLanes / 2; half > 0; half /= 2)
    for (Index w = 0; w < half; ++w) x[w] = x[w + half] > x[w] ? x[w + half] : x[w];
  return x[0];
}

}  // namespace

CERTUS_CLONES RestScore find_largest_sums(const float* __restrict x, const float* __restrict ending,
                                          const float* __restrict around, Index n) {
  float own[kLanes], most[kLanes], most_around[kLanes];
  for (Index w = 0; w < kLanes; ++w) own[w] = most[w] = most_around[w] = kNever<float>;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index w = 0; w < kLanes; ++w) {
      const float one = x[i + w] + ending[i + w], both = x[i + w] + around[i + w];
      own[w] = x[i + w] > own[w] ? x[i + w] : own[w];
      most[w] = one > most[w] ? one : most[w];
      most_around[w] = both > most_around[w] ? both : most_around[w];
    }
  RestScore largest{fold_largest(own), fold_largest(most), fold_largest(most_around)};
  for (; i < n; ++i) largest.raise({x[i], x[i] + ending[i], x[i] + around[i]});
  return largest;
}

GroupBounds::GroupBounds(const Tagset& tagset, const NgramBounds& places) : none_(tagset.units) {
  for (Index g = 0; g < tagset.groups; ++g) {
    Group group;
    group.first_place = places.place(tagset.members[tagset.member_begin[g]]);
    group.size = tagset.member_begin[g + 1] - tagset.member_begin[g];
    groups_.push_back(group);
    put_into_columns(tagset, g);
  }
}

void GroupBounds::put_into_columns(const Tagset& tagset, Index group) {
  Group& made = groups_[group];
  const Label* const members = tagset.members.data() + tagset.member_begin[group];
  const auto parts = [&](Index i) {
    return std::pair{tagset.parts.begin() + tagset.begin[members[i]],
                     tagset.parts.begin() + tagset.begin[members[i] + 1]};
  };
  std::map<Unit, Index> uses;
  for (Index i = 0; i < made.size; ++i)
    for (auto [p, end] = parts(i); p != end; ++p) ++uses[*p];
  // The unit of each label that none of the others has, the last such.
  std::vector<std::int32_t> own(made.size, static_cast<std::int32_t>(none_));
  for (Index i = 0; i < made.size; ++i)
    for (auto [p, end] = parts(i); p != end; ++p)
      if (uses[*p] == 1) own[i] = static_cast<std::int32_t>(*p);
  // For all others the first column in which no label has a unit yet that also has this one.
  std::vector<std::vector<Unit>> columns;
  std::vector<std::vector<bool>> taken;                          // [columns][members]
  std::map<std::pair<Unit, Index>, std::vector<Index>> holders;  // of a unit, or of another one of the same
  for (Index i = 0; i < made.size; ++i)
    for (auto [p, end] = parts(i); p != end; ++p)
      if (static_cast<std::int32_t>(*p) != own[i]) holders[{*p, std::count(parts(i).first, p, *p)}].push_back(i);
  for (const auto& [unit, who] : holders) {
    std::size_t c = 0;
    while (c < columns.size() && std::any_of(who.begin(), who.end(), [&](Index i) { return taken[c][i]; })) ++c;
    if (c == columns.size()) columns.emplace_back(), taken.emplace_back(made.size, false);
    columns[c].push_back(unit.first);
    for (const Index i : who) taken[c][i] = true;
  }
  made.first_column = static_cast<std::uint32_t>(column_begin_.size());
  made.columns = static_cast<std::uint32_t>(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    column_begin_.push_back(static_cast<std::uint32_t>(units_.size()));
    for (const Unit unit : columns[c]) units_.push_back(static_cast<std::int32_t>(unit));
    if (std::find(taken[c].begin(), taken[c].end(), false) != taken[c].end())
      units_.push_back(static_cast<std::int32_t>(none_));
  }
  column_begin_.push_back(static_cast<std::uint32_t>(units_.size()));
  bool consecutive = true;
  for (Index i = 0; i < made.size; ++i) consecutive = consecutive && own[i] == own[0] + i && own[i] != none_;
  if (consecutive) made.first_own = own[0];
  else made.own = static_cast<std::uint32_t>(units_.size()), units_.insert(units_.end(), own.begin(), own.end());
}

RestScore GroupBounds::find(Index group, const float* units, const float* ending, const float* around) const {
  const Group& g = groups_[group];
  ending += g.first_place, around += g.first_place;
  RestScore sum;
  if (g.first_own >= 0) sum = find_largest_sums(units + g.first_own, ending, around, g.size);
  for (Index i = 0; g.first_own < 0 && i < g.size; ++i) {
    const float own = units[units_[g.own + static_cast<std::uint32_t>(i)]];
    sum.raise({own, own + ending[i], own + around[i]});
  }
  const std::uint32_t* begin = column_begin_.data() + g.first_column;
  for (std::uint32_t c = 0; c < g.columns; ++c) {
    float most = kNever<float>;
    for (std::uint32_t i = begin[c]; i < begin[c + 1]; ++i) most = std::max(most, units[units_[i]]);
    sum.add(most);
  }
  return sum;
}

}  // namespace certus::scoring
