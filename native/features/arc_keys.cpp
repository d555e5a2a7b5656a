#include "features/arc_keys.hpp"

#include <algorithm>

#include "base/vector.hpp"

namespace certus::features {
namespace {

constexpr std::size_t kMostTags = 64;           // between two words; further ones count as the last
constexpr std::size_t kMostCombinations = 256;  // of values of one template at one part

Index bucket(Index distance) {
  if (distance <= 5) return std::max<Index>(distance, 1) - 1;
  return distance <= 10 ? 5 : distance <= 20 ? 6 : 7;
}

CERTUS_CLONES void add_sides(const std::uint32_t* __restrict a, const std::uint32_t* __restrict b,
                             const std::uint32_t* __restrict x, Index count, int shift, Place* __restrict out) {
  for (Index t = 0; t < count; ++t) out[t] = (a[t] + b[t] + x[t]) * 0x9E3779B1u >> shift;
}
CERTUS_CLONES void add_sides(const std::uint32_t* __restrict a, const std::uint32_t* __restrict b,
                             const std::uint32_t* __restrict c, const std::uint32_t* __restrict x, Index count,
                             int shift, Place* __restrict out) {
  for (Index t = 0; t < count; ++t) out[t] = (a[t] + b[t] + c[t] + x[t]) * 0x9E3779B1u >> shift;
}
CERTUS_CLONES void add_sides(const std::uint32_t* __restrict a, const std::uint32_t* __restrict b,
                             const std::uint32_t* __restrict c, const std::uint32_t* __restrict d,
                             const std::uint32_t* __restrict x, Index count, int shift, Place* __restrict out) {
  for (Index t = 0; t < count; ++t) out[t] = (a[t] + b[t] + c[t] + d[t] + x[t]) * 0x9E3779B1u >> shift;
}

// Roles that a kind of part has not are never read.
bool has_role(ArcPart part, ArcRole role) {
  switch (role) {
    case ArcRole::sibling: return part == ArcPart::sibling || part == ArcPart::grand_sibling || part == ArcPart::child;
    case ArcRole::grandparent: return part == ArcPart::grandparent || part == ArcPart::grand_sibling;
    default: return true;
  }
}

const Key* find_row(const ArcWords& words, Index view, Index offset) {
  return words.values.data() + view * words.width() + kFarthestArc + offset;
}

}  // namespace

void ArcKeys::prepare(const ArcPlan& plan, ArcPart part, const ArcWords& words) {
  templates_ = &plan.of(part);
  part_ = part;
  length_ = words.length;
  shift_ = 32 - plan.bits();
  prepare_plain(words);
  prepare_several(words);
}

void ArcKeys::prepare_plain(const ArcWords& words) {
  const Index T = templates_->count(), rows = length_ + 2;
  for (int role = 0; role < kArcRoles; ++role) {
    if (!has_role(part_, static_cast<ArcRole>(role))) continue;
    side_[role].resize(static_cast<std::size_t>(rows * T));
    for (Index t = 0; t < T; ++t) {
      const WordHash& hash = templates_->plain[t].words[role];
      std::uint32_t* out = side_[role].data() + t;
      if (hash.cells.empty()) {
        for (Index place = 0; place < rows; ++place) out[place * T] = 0;
        continue;
      }
      const WordHash::Cell* cells = hash.cells.data();
      const Key *first = find_row(words, cells[0].view, cells[0].offset), *second = nullptr;
      if (hash.cells.size() > 1) second = find_row(words, cells[1].view, cells[1].offset);
      for (Index place = 0; place < rows; ++place, out += T) {
        Key key = mix(hash.seed, first[place]);
        if (second) key = mix(key, second[place]);
        for (std::size_t c = 2; c < hash.cells.size(); ++c)
          key = mix(key, find_row(words, cells[c].view, cells[c].offset)[place]);
        *out = static_cast<std::uint32_t>(key >> 32);
      }
    }
  }
}

void ArcKeys::prepare_lists(const WordHash& hash, const ArcWords& words, Lists& out) const {
  out.first.clear();
  out.all.clear();
  if (hash.is_empty()) return;
  out.first.push_back(0);
  for (Index place = 0; place < length_ + 2; ++place) {
    Key key = hash.seed;
    for (const WordHash::Cell& cell : hash.cells) key = mix(key, find_row(words, cell.view, cell.offset)[place]);
    const std::uint32_t own = hash.cells.empty() ? 0 : static_cast<std::uint32_t>(key >> 32);
    if (hash.list == kNoView) {
      out.all.push_back(own);
    } else {
      const Index at = std::clamp<Index>(place + hash.list_offset, 0, length_ + 1);
      const std::vector<std::uint32_t>& first = words.firsts[hash.list];
      for (std::uint32_t i = first[at]; i < first[at + 1]; ++i)
        out.all.push_back(static_cast<std::uint32_t>(mix(mix(hash.seed, words.lists[hash.list][i]), own) >> 32));
    }
    out.first.push_back(static_cast<std::uint32_t>(out.all.size()));
  }
}

// One is between two words where it comes after the first and before the second.
void ArcKeys::prepare_tags(Index view, const ArcWords& words, Tags& out) const {
  const Key* row = find_row(words, view, 0);
  out.values.clear();
  out.numbers.assign(static_cast<std::size_t>(length_) + 1, 0);
  for (Index place = 1; place <= length_; ++place) {
    const auto found = std::find(out.values.begin(), out.values.end(), row[place]);
    const auto tag = static_cast<std::size_t>(found - out.values.begin());
    if (tag == out.values.size() && tag < kMostTags) out.values.push_back(row[place]);
    out.numbers[place] = std::min(tag, kMostTags - 1);
  }
  const Index tags = static_cast<Index>(out.values.size());
  out.next.resize(static_cast<std::size_t>((length_ + 1) * tags));
  std::fill_n(out.next.begin() + length_ * tags, tags, static_cast<std::int32_t>(length_ + 1));
  for (Index place = length_; place > 0; --place) {
    std::copy_n(out.next.begin() + place * tags, tags, out.next.begin() + (place - 1) * tags);
    out.next[(place - 1) * tags + static_cast<Index>(out.numbers[place])] = static_cast<std::int32_t>(place);
  }
}

void ArcKeys::prepare_several(const ArcWords& words) {
  tags_.resize(templates_->between.size());
  for (std::size_t v = 0; v < tags_.size(); ++v) prepare_tags(templates_->between[v], words, tags_[v]);
  several_.resize(templates_->several.size());
  for (std::size_t s = 0; s < several_.size(); ++s) {
    const TemplateHash& hash = templates_->several[s];
    Several& each = several_[s];
    for (int role = 0; role < kArcRoles; ++role) prepare_lists(hash.words[role], words, each.words[role]);
    each.between = nullptr;
    each.between_hash.clear();
    if (hash.between == kNoView) continue;
    const auto found = std::find(templates_->between.begin(), templates_->between.end(), hash.between);
    each.between = &tags_[found - templates_->between.begin()];
    for (const Key tag : each.between->values)
      each.between_hash.push_back(static_cast<std::uint32_t>(mix(hash.between_seed, tag) >> 32));
  }
}

Index ArcKeys::find_apart(const Words& words) const {
  const auto [h, m, s, g] = words.at;
  const bool with_sibling = part_ == ArcPart::sibling || part_ == ArcPart::grand_sibling;
  const bool with_grandparent = part_ == ArcPart::grandparent || part_ == ArcPart::grand_sibling;
  // Siblings stand on one side of the head, and either may be a boundary.
  const bool right = m <= length_ ? m > h : !with_sibling || s > length_ || s > h;
  const Index from = with_sibling && s <= length_ ? s : h;
  const Index distance = m > length_ ? 0 : m > from ? m - from : from - m;
  const bool upper = with_grandparent && h > g;
  return (upper * 2 + right) * kDistanceBuckets + bucket(distance);
}

void ArcKeys::find(const Words& words, Places& out) const {
  find_all(words, find_apart(words), {std::min(words.at[0], words.at[1]), std::max(words.at[0], words.at[1])}, out);
}

// Arcs have no grandparent, so that what tells its direction is free to tell outer arcs from others.
void ArcKeys::find_outer(const Words& words, bool to_right, Index border, Places& out) const {
  const Stretch beyond = to_right ? Stretch{border, length_ + 1} : Stretch{0, border};
  find_all(words, (2 + to_right) * kDistanceBuckets, beyond, out);
}

void ArcKeys::find_all(const Words& words, Index way, const Stretch& between, Places& out) const {
  const Index T = templates_->count(), all = T + static_cast<Index>(templates_->several.size());
  const std::uint32_t* apart = templates_->apart.data() + way * all;
  const auto row = [&](ArcRole role) {
    return side_[static_cast<int>(role)].data() + words.at[static_cast<int>(role)] * T;
  };
  const Index bare = templates_->plain_bare;
  const std::uint32_t *h = row(ArcRole::head), *m = row(ArcRole::modifier);
  Place* first = out.bare.reserve(static_cast<std::size_t>(bare));
  switch (part_) {
    case ArcPart::arc:
      add_sides(h, m, apart, bare, shift_, first);
      if (bare == T) break;
      add_sides(h + bare, m + bare, apart + bare, T - bare, shift_,
                out.relation.reserve(static_cast<std::size_t>(T - bare)));
      out.relation.grow(static_cast<std::size_t>(T - bare));
      break;
    case ArcPart::child:
    case ArcPart::sibling: add_sides(h, m, row(ArcRole::sibling), apart, T, shift_, first); break;
    case ArcPart::grandparent: add_sides(h, m, row(ArcRole::grandparent), apart, T, shift_, first); break;
    case ArcPart::grand_sibling:
      add_sides(h, m, row(ArcRole::sibling), row(ArcRole::grandparent), apart, T, shift_, first);
      break;
  }
  out.bare.grow(static_cast<std::size_t>(bare));
  for (std::size_t s = 0; s < several_.size(); ++s)
    find_several(several_[s], words, apart[T + static_cast<Index>(s)], between,
                 static_cast<Index>(s) < templates_->several_bare ? out.bare : out.relation);
}

ArcKeys::List ArcKeys::Lists::at(Index place) const {
  static constexpr std::uint32_t kZero = 0;
  if (first.empty()) return {&kZero, &kZero + 1};
  return {all.data() + first[place], all.data() + first[place + 1]};
}

void ArcKeys::find_several(const Several& each, const Words& words, std::uint32_t apart, const Stretch& between,
                           PlaceList& out) const {
  if (each.between && between.high - between.low <= 1) return;
  const List heads = each.words[0].at(words.at[0]), modifiers = each.words[1].at(words.at[1]);
  const List siblings = each.words[2].at(words.at[2]), grand = each.words[3].at(words.at[3]);
  Place* const begin = out.reserve(kMostCombinations + kMostTags);
  Place* const limit = begin + kMostCombinations;
  Place* end = begin;
  const std::size_t tags = each.between_hash.size();
  const std::int32_t* next =
      each.between ? each.between->next.data() + between.low * static_cast<Index>(tags) : nullptr;
  for (const std::uint32_t* h = heads.begin; h < heads.end; ++h)
    for (const std::uint32_t* m = modifiers.begin; m < modifiers.end; ++m)
      for (const std::uint32_t* b = siblings.begin; b < siblings.end; ++b)
        for (const std::uint32_t* g = grand.begin; g < grand.end && end < limit; ++g) {
          const std::uint32_t sum = *h + *m + *b + *g + apart;
          if (!next) {
            *end++ = spread_over(sum);
            continue;
          }
          for (std::size_t tag = 0; tag < tags; ++tag) {
            *end = spread_over(sum + each.between_hash[tag]);
            end += next[tag] < between.high;
          }
        }
  out.grow(static_cast<std::size_t>(end - begin));
}

}  // namespace certus::features
