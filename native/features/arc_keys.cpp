#include "features/arc_keys.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/vector.hpp"

namespace certus::features {
namespace {

constexpr Index kBuckets = 8, kAparts = 4 * kBuckets;  // of distances, for two directions of each of two arcs
constexpr std::size_t kMostTags = 64;                  // between two words; further ones count as the last
constexpr std::size_t kMostCombinations = 256;         // of values of one template at one part

Index bucket(Index distance) {
  if (distance <= 5) return std::max<Index>(distance, 1) - 1;
  return distance <= 10 ? 5 : distance <= 20 ? 6 : 7;
}

// Each template is seeded by what it says, not by its number: others may come and go beside it.
Key seed_of(const ArcTemplate& each) {
  Key seed = spread(static_cast<Key>(each.part) << 2 | static_cast<Key>(each.relation) << 1 | Key{each.distance});
  for (const ArcTerm& term : each.terms)
    for (const std::int32_t x : {static_cast<std::int32_t>(term.role), static_cast<std::int32_t>(term.function),
                                 term.column, term.offset, term.length})
      seed = mix(seed, static_cast<Key>(x) + 64);
  return seed;
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

}  // namespace

ArcPlan::ArcPlan(const std::vector<std::int32_t>& program, Index columns, int bits) : columns_(columns), bits_(bits) {
  if (bits < 10 || bits > 30) throw std::invalid_argument("the bits of a table of weights are 10 to 30");
  std::vector<ArcTemplate> templates = read_arc_program(program, columns);
  std::stable_partition(templates.begin(), templates.end(), [](const ArcTemplate& each) { return !each.relation; });
  for (const ArcTemplate& each : templates) {
    PartTemplates& part = parts_[static_cast<int>(each.part)];
    (each.is_several() ? part.several : part.plain).push_back(each);
    if (!each.relation) ++(each.is_several() ? part.several_bare : part.plain_bare);
    for (const ArcTerm& term : each.terms) {
      auto& views = term.function == ArcFunction::each ? several_ : single_;
      const ArcView wanted{term.function, term.column, term.length};
      if (std::find(views.begin(), views.end(), wanted) == views.end()) views.push_back(wanted);
    }
  }
}

std::size_t ArcPlan::view(const ArcTerm& term) const {
  const auto& views = term.function == ArcFunction::each ? several_ : single_;
  const ArcView wanted{term.function, term.column, term.length};
  return static_cast<std::size_t>(std::find(views.begin(), views.end(), wanted) - views.begin());
}

std::uint32_t ArcKeys::mix_word(const ArcPlan& plan, const ArcTemplate& each, ArcRole role, const ArcWords& words,
                                Index place, Key seed) const {
  bool any = false;
  for (const ArcTerm& term : each.terms) {
    if (term.role != role || term.is_several()) continue;
    any = true;
    seed = mix(seed, words.value(static_cast<Index>(plan.view(term)), place + term.offset));
  }
  return any ? static_cast<std::uint32_t>(seed >> 32) : 0;
}

void ArcKeys::prepare(const ArcPlan& plan, ArcPart part, const ArcWords& words) {
  templates_ = &plan.of(part);
  part_ = part;
  length_ = words.length;
  shift_ = 32 - plan.bits();
  prepare_plain(plan, words);
  prepare_several(plan, words);
  prepare_between(plan, words);
  prepare_apart();
}

// The views of terms are found once per template, not once per word.
void ArcKeys::prepare_plain(const ArcPlan& plan, const ArcWords& words) {
  const Index T = templates_->count(), rows = length_ + 2;
  for (int role = 0; role < kArcRoles; ++role) {
    side_[role].assign(static_cast<std::size_t>(rows * T), 0);
    for (Index t = 0; t < T; ++t) {
      const ArcTemplate& each = templates_->plain[t];
      struct Source {
        const Key* row;
      };
      std::array<Source, 16> sources;
      std::size_t count = 0;
      for (const ArcTerm& term : each.terms)
        if (term.role == static_cast<ArcRole>(role))
          sources[count++].row =
              words.values.data() + static_cast<Index>(plan.view(term)) * words.width() + kFarthestArc + term.offset;
      if (count == 0) continue;
      const Key seed = mix(seed_of(each), spread(static_cast<Key>(role)));
      std::uint32_t* out = side_[role].data() + t;
      for (Index place = 0; place < rows; ++place, out += T) {
        Key key = seed;
        for (std::size_t s = 0; s < count; ++s) key = mix(key, sources[s].row[place]);
        *out = static_cast<std::uint32_t>(key >> 32);
      }
    }
  }
}

void ArcKeys::prepare_several(const ArcPlan& plan, const ArcWords& words) {
  const std::size_t S = templates_->several.size();
  first_.resize(S * kArcRoles);
  list_.resize(S * kArcRoles);
  for (std::size_t s = 0; s < S; ++s) {
    const ArcTemplate& each = templates_->several[s];
    for (int role = 0; role < kArcRoles; ++role) {
      auto& first = first_[s * kArcRoles + static_cast<std::size_t>(role)];
      auto& list = list_[s * kArcRoles + static_cast<std::size_t>(role)];
      first.assign(1, 0);
      list.clear();
      const Key seed = mix(seed_of(each), spread(static_cast<Key>(role)));
      const auto many = std::find_if(each.terms.begin(), each.terms.end(), [&](const ArcTerm& term) {
        return term.role == static_cast<ArcRole>(role) && term.function == ArcFunction::each;
      });
      for (Index place = 0; place < length_ + 2; ++place) {
        const std::uint32_t own = mix_word(plan, each, static_cast<ArcRole>(role), words, place, seed);
        if (many == each.terms.end()) {
          list.push_back(own);
        } else {
          const std::size_t view = plan.view(*many);
          const Index at = std::clamp<Index>(place + many->offset, 0, length_ + 1);
          for (std::uint32_t i = words.firsts[view][at]; i < words.firsts[view][at + 1]; ++i)
            list.push_back(static_cast<std::uint32_t>(mix(mix(seed, words.lists[view][i]), own) >> 32));
        }
        first.push_back(static_cast<std::uint32_t>(list.size()));
      }
    }
  }
}

// The different tags of a sentence, and for each place where each of them comes next: one is between two words where
// it comes before the second.
void ArcKeys::prepare_between(const ArcPlan& plan, const ArcWords& words) {
  const std::size_t S = templates_->several.size();
  between_.assign(S, kNoView);
  tag_hash_.resize(S);
  next_.resize(S);
  for (std::size_t s = 0; s < S; ++s) {
    const ArcTemplate& each = templates_->several[s];
    const auto term =
        std::find_if(each.terms.begin(), each.terms.end(), [](const ArcTerm& x) { return x.role == ArcRole::between; });
    if (term == each.terms.end()) continue;
    between_[s] = plan.view(*term);
    const Key* row = words.values.data() + static_cast<Index>(between_[s]) * words.width() + kFarthestArc;
    std::vector<Key> tags;
    std::vector<Index>& next = next_[s];
    std::vector<std::size_t> number(static_cast<std::size_t>(length_) + 1, 0);
    for (Index place = 1; place <= length_; ++place) {
      std::size_t tag = static_cast<std::size_t>(std::find(tags.begin(), tags.end(), row[place]) - tags.begin());
      if (tag == tags.size() && tags.size() < kMostTags) tags.push_back(row[place]);
      number[place] = std::min(tag, kMostTags - 1);
    }
    next.assign(tags.size() * static_cast<std::size_t>(length_ + 2), length_ + 1);
    for (std::size_t tag = 0; tag < tags.size(); ++tag)
      for (Index place = length_; place > 0; --place)
        next[tag * (length_ + 2) + place - 1] = number[place] == tag ? place : next[tag * (length_ + 2) + place];
    const Key seed = mix(seed_of(each), spread(kArcRoles));
    tag_hash_[s].clear();
    for (const Key tag : tags) tag_hash_[s].push_back(static_cast<std::uint32_t>(mix(seed, tag) >> 32));
  }
}

void ArcKeys::prepare_apart() {
  const Index P = templates_->count(), T = P + static_cast<Index>(templates_->several.size());
  if (static_cast<Index>(apart_.size()) == kAparts * T) return;  // it does not depend on the sentence
  apart_.resize(static_cast<std::size_t>(kAparts * T));
  for (Index t = 0; t < T; ++t) {
    const ArcTemplate& each = t < P ? templates_->plain[t] : templates_->several[t - P];
    for (Index a = 0; a < kAparts; ++a) {
      const Index said = each.distance ? a : a / kBuckets * kBuckets;
      apart_[a * T + t] = static_cast<std::uint32_t>(mix(spread(static_cast<Key>(said)), seed_of(each)) >> 32);
    }
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
  return (upper * 2 + right) * kBuckets + bucket(distance);
}

void ArcKeys::find(const Words& words, Places& out) const {
  find_all(words, find_apart(words), {std::min(words.at[0], words.at[1]), std::max(words.at[0], words.at[1])}, out);
}

// Arcs have no grandparent, so that what tells its direction is free to tell outer arcs from others.
void ArcKeys::find_outer(const Words& words, bool to_right, Index border, Places& out) const {
  const Stretch beyond = to_right ? Stretch{border, length_ + 1} : Stretch{0, border};
  find_all(words, (2 + to_right) * kBuckets, beyond, out);
}

void ArcKeys::find_all(const Words& words, Index way, const Stretch& between, Places& out) const {
  const Index T = templates_->count(), all = T + static_cast<Index>(templates_->several.size());
  const std::uint32_t* apart = apart_.data() + way * all;
  const auto row = [&](ArcRole role) {
    return side_[static_cast<int>(role)].data() + words.at[static_cast<int>(role)] * T;
  };
  const Index bare = templates_->plain_bare;
  const std::size_t at = out.bare.size(), labelled = out.relation.size();
  out.bare.resize(at + static_cast<std::size_t>(bare));
  out.relation.resize(labelled + static_cast<std::size_t>(T - bare));
  const std::uint32_t *h = row(ArcRole::head), *m = row(ArcRole::modifier);
  Place *first = out.bare.data() + at, *second = out.relation.data() + labelled;
  switch (part_) {
    case ArcPart::arc:
      add_sides(h, m, apart, bare, shift_, first);
      add_sides(h + bare, m + bare, apart + bare, T - bare, shift_, second);
      break;
    case ArcPart::child:
    case ArcPart::sibling: add_sides(h, m, row(ArcRole::sibling), apart, T, shift_, first); break;
    case ArcPart::grandparent: add_sides(h, m, row(ArcRole::grandparent), apart, T, shift_, first); break;
    case ArcPart::grand_sibling:
      add_sides(h, m, row(ArcRole::sibling), row(ArcRole::grandparent), apart, T, shift_, first);
      break;
  }
  if (!templates_->several.empty()) find_several(words, apart + T, between, out);
}

void ArcKeys::find_several(const Words& words, const std::uint32_t* apart, const Stretch& between, Places& out) const {
  for (std::size_t s = 0; s < templates_->several.size(); ++s) {
    std::vector<Place>& places = static_cast<Index>(s) < templates_->several_bare ? out.bare : out.relation;
    const std::size_t most = places.size() + kMostCombinations;
    const List heads = list(s, ArcRole::head, words.at[0]), modifiers = list(s, ArcRole::modifier, words.at[1]);
    const List siblings = list(s, ArcRole::sibling, words.at[2]), grand = list(s, ArcRole::grandparent, words.at[3]);
    for (const std::uint32_t* h = heads.begin; h < heads.end; ++h)
      for (const std::uint32_t* m = modifiers.begin; m < modifiers.end; ++m)
        for (const std::uint32_t* b = siblings.begin; b < siblings.end; ++b)
          for (const std::uint32_t* g = grand.begin; g < grand.end; ++g) {
            const std::uint32_t sum = *h + *m + *b + *g + apart[s];
            if (places.size() >= most) continue;
            if (between_[s] == kNoView) {
              places.push_back(spread_over(sum));
              continue;
            }
            for (std::size_t tag = 0; tag < tag_hash_[s].size(); ++tag)
              if (next_[s][tag * (length_ + 2) + between.low] < between.high)
                places.push_back(spread_over(sum + tag_hash_[s][tag]));
          }
  }
}

}  // namespace certus::features
