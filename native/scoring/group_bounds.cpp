#include "scoring/group_bounds.hpp"

#include <map>

#include "base/widths.hpp"
#include "lattice/sums.hpp"

namespace certus::scoring {
namespace {

constexpr Index kTagLanes = NgramBounds::kBlock, kMany = 2;  // coarse tags that a row is quicker for than one by one

// Whole vectors, the last of which may go beyond the end.
template <class S, int bytes>
CERTUS_INLINE RestScore find_largest_sums_body(const float* x, const float* ending, const float* around, Index n) {
  using K = Simd<float, bytes>;
  const auto load = [](const float* from) __attribute__((always_inline)) {
    return *reinterpret_cast<const typename K::unaligned*>(from);
  };
  typename K::vector own = typename K::vector{} + kNever<float>, most = own, most_around = own;
  const typename K::vector never = own;
  for (Index i = 0; i < n; i += K::width) {
    typename K::vector next = load(x + i);
    if (i + K::width > n) {
      typename Simd<std::int32_t, bytes>::vector lane;
      for (std::int32_t w = 0; w < K::width; ++w) lane[w] = w;
      next = lane < static_cast<std::int32_t>(n - i) ? next : never;
    }
    own = larger(own, next);
    most = larger(most, next + load(ending + i));
    most_around = larger(most_around, next + load(around + i));
  }
  return {fold_largest<float, bytes>(own), fold_largest<float, bytes>(most), fold_largest<float, bytes>(most_around)};
}

// x[i] = max(x[i], y[i] + z)
CERTUS_INLINE void raise_row(float* __restrict x, const float* __restrict y, float z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] + z > x[i] ? y[i] + z : x[i];
}

// The same of four rows of y.
CERTUS_INLINE void raise_four_rows(float* __restrict x, const float* __restrict y, const float (&z)[4], Index n) {
  for (Index i = 0; i < n; ++i) {
    const float a = y[i] + z[0], b = y[n + i] + z[1], c = y[2 * n + i] + z[2], d = y[3 * n + i] + z[3];
    const float one = a > b ? a : b, other = c > d ? c : d, most = one > other ? one : other;
    x[i] = most > x[i] ? most : x[i];
  }
}

}  // namespace

CERTUS_BY_WIDTH(RestScore, find_largest_sums, float, find_largest_sums_body,
                (const float* x, const float* ending, const float* around, Index n), (x, ending, around, n))

GroupBounds::GroupBounds(const Tagset& tagset, const NgramBounds& places)
    : none_(tagset.units), width_((tagset.groups + kTagLanes - 1) / kTagLanes * kTagLanes) {
  std::vector<std::int32_t> own(tagset.labels);
  for (Index g = 0; g < tagset.groups; ++g) {
    const Label* const members = tagset.members.data() + tagset.member_begin[g];
    Group& made = groups_.emplace_back();
    made.first_place = places.place(members[0]);
    made.size = tagset.member_begin[g + 1] - tagset.member_begin[g];
    const std::vector<std::int32_t> found = find_own(tagset, g);
    for (Index i = 0; i < made.size; ++i) own[members[i]] = found[i];
    bool consecutive = true;
    for (Index i = 0; i < made.size; ++i) consecutive = consecutive && found[i] == found[0] + i && found[i] != none_;
    if (consecutive) made.first_own = found[0];
    else
      made.own = static_cast<std::uint32_t>(own_units_.size()),
      own_units_.insert(own_units_.end(), found.begin(), found.end());
  }
  const auto [least_own, most_own] = std::minmax_element(own.begin(), own.end());
  least_own_ = *least_own, count_own_ = *most_own + 1 - *least_own;
  put_into_columns(tagset, own);
}

// The unit of each label of a coarse tag that none of the others has; the first such, which are mostly consecutive.
std::vector<std::int32_t> GroupBounds::find_own(const Tagset& tagset, Index group) {
  const Index first = tagset.member_begin[group], size = tagset.member_begin[group + 1] - first;
  std::map<Unit, Index> uses;
  const auto visit = [&](Index i, const auto& use) {
    const Label y = tagset.members[first + i];
    for (std::uint32_t k = tagset.begin[y]; k < tagset.begin[y + 1]; ++k) use(tagset.parts[k]);
  };
  for (Index i = 0; i < size; ++i) visit(i, [&](Unit unit) { ++uses[unit]; });
  std::vector<std::int32_t> own(size, static_cast<std::int32_t>(none_));
  for (Index i = 0; i < size; ++i)
    visit(i, [&](Unit unit) {
      if (uses[unit] == 1 && own[i] == none_) own[i] = static_cast<std::int32_t>(unit);
    });
  return own;
}

// Puts entries of the same cell far from each other: the next one then needs not wait for the last to be written.
void GroupBounds::spread_out(std::vector<Entry>& entries) {
  std::map<std::uint32_t, Index> seen;
  std::vector<std::pair<Index, Entry>> ranked;
  ranked.reserve(entries.size());
  for (const Entry& entry : entries) ranked.emplace_back(seen[entry.cell]++, entry);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = ranked[i].second;
}

// All other units: each into the first column in which no label has a unit yet that also has this one.
void GroupBounds::put_into_columns(const Tagset& tagset, const std::vector<std::int32_t>& own) {
  std::map<std::pair<Unit, Index>, std::vector<Label>> holders;  // of a unit, or of another one of the same
  for (Label y = 0; y < tagset.labels; ++y) {
    const auto first = tagset.parts.begin() + tagset.begin[y], last = tagset.parts.begin() + tagset.begin[y + 1];
    for (auto p = first; p != last; ++p)
      if (static_cast<std::int32_t>(*p) != own[y]) holders[{*p, std::count(first, p, *p)}].push_back(y);
  }
  std::vector<std::vector<bool>> taken;                                // [columns][labels]
  std::vector<std::vector<std::pair<Unit, std::vector<float>>>> rows;  // [columns]
  for (const auto& [unit, who] : holders) {
    std::size_t c = 0;
    while (c < taken.size() && std::any_of(who.begin(), who.end(), [&](Label y) { return taken[c][y]; })) ++c;
    if (c == taken.size()) taken.emplace_back(tagset.labels, false);
    std::vector<float> mask(width_, kNever<float>);
    for (const Label y : who) taken[c][y] = true, mask[tagset.group[y]] = 0;
    const auto row = static_cast<std::uint32_t>(c) * static_cast<std::uint32_t>(width_);
    if (std::count(mask.begin(), mask.end(), 0.0f) >= kMany) {
      rows.resize(taken.size());
      rows[c].emplace_back(unit.first, mask);
    } else {
      for (Index g = 0; g < width_; ++g)
        if (mask[g] == 0) single_.push_back({unit.first, row + static_cast<std::uint32_t>(g)});
    }
  }
  spread_out(single_);
  rows.resize(taken.size());
  for (const auto& column : rows) {
    for (const auto& [unit, mask] : column)
      many_.push_back(unit), masks_.insert(masks_.end(), mask.begin(), mask.end());
    many_end_.push_back(many_.size());
  }
  for (const auto& column : taken) {
    const auto row = start_.insert(start_.end(), width_, kNever<float>);
    for (Label y = 0; y < tagset.labels; ++y)
      if (!column[y]) row[tagset.group[y]] = 0;
  }
}

CERTUS_CLONES GroupBounds::Sums GroupBounds::add_up(const float* units, std::vector<float>& memory) const {
  const Index W = width_;
  memory.assign(start_.begin(), start_.end());
  memory.resize(start_.size() + static_cast<std::size_t>(W), 0);
  float* const most = memory.data();
  for (const Entry& entry : single_) most[entry.cell] = std::max(most[entry.cell], units[entry.unit]);
  float* const sums = most + start_.size();
  const float* mask = masks_.data();
  const Unit* unit = many_.data();
  float* row = most;
  for (const std::size_t last : many_end_) {
    const Unit* const end = many_.data() + last;
    for (; end - unit >= 4; unit += 4, mask += 4 * W)
      raise_four_rows(row, mask, {units[unit[0]], units[unit[1]], units[unit[2]], units[unit[3]]}, W);
    for (; unit != end; ++unit, mask += W) raise_row(row, mask, units[*unit], W);
    for (Index g = 0; g < W; ++g) sums[g] += row[g];
    row += W;
  }
  return {sums, lattice::find_largest(units + least_own_, count_own_)};
}

RestScore GroupBounds::find(Index group, float columns, const float* units, const float* ending,
                            const float* around) const {
  const Group& g = groups_[group];
  RestScore sum;
  ending += g.first_place, around += g.first_place;
  if (g.first_own >= 0) sum = find_largest_sums(units + g.first_own, ending, around, g.size);
  for (Index i = 0; g.first_own < 0 && i < g.size; ++i) {
    const float own = units[own_units_[g.own + static_cast<std::uint32_t>(i)]];
    sum.raise({own, own + ending[i], own + around[i]});
  }
  sum.add(columns);
  return sum;
}

}  // namespace certus::scoring
