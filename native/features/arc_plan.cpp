#include "features/arc_plan.hpp"

#include <stdexcept>

namespace certus::features {
namespace {

// Each template is seeded by what it says, not by its number: others may come and go beside it.
Key make_seed(const ArcTemplate& each) {
  Key seed = spread(static_cast<Key>(each.part) << 2 | static_cast<Key>(each.relation) << 1 | Key{each.distance});
  for (const ArcTerm& term : each.terms)
    for (const std::int32_t x : {static_cast<std::int32_t>(term.role), static_cast<std::int32_t>(term.function),
                                 term.column, term.offset, term.length})
      seed = mix(seed, static_cast<Key>(x) + 64);
  return seed;
}

// The hashes of direction and distance, [direction and distance][templates].
std::vector<std::uint32_t> hash_distances(const std::vector<ArcTemplate>& templates) {
  std::vector<std::uint32_t> out;
  for (Index a = 0; a < kAparts; ++a)
    for (const ArcTemplate& each : templates) {
      const Index said = each.distance ? a : a / kDistanceBuckets * kDistanceBuckets;
      out.push_back(static_cast<std::uint32_t>(mix(spread(static_cast<Key>(said)), make_seed(each)) >> 32));
    }
  return out;
}

}  // namespace

ArcPlan::ArcPlan(const std::vector<std::int32_t>& program, Index columns, int bits) : columns_(columns), bits_(bits) {
  if (bits < 10 || bits > 30) throw std::invalid_argument("the bits of a table of weights are 10 to 30");
  std::vector<ArcTemplate> templates = read_arc_program(program, columns);
  std::stable_partition(templates.begin(), templates.end(), [](const ArcTemplate& each) { return !each.relation; });
  std::stable_partition(templates.begin(), templates.end(), [](const ArcTemplate& each) { return !each.is_several(); });
  std::vector<ArcTemplate> by_part[kArcParts];
  for (const ArcTemplate& each : templates) {
    by_part[static_cast<int>(each.part)].push_back(each);
    PartTemplates& part = parts_[static_cast<int>(each.part)];
    TemplateHash hash = make_hash(each);
    if (hash.between != kNoView &&
        std::find(part.between.begin(), part.between.end(), hash.between) == part.between.end())
      part.between.push_back(hash.between);
    (each.is_several() ? part.several : part.plain).push_back(std::move(hash));
    if (!each.relation) ++(each.is_several() ? part.several_bare : part.plain_bare);
  }
  for (int part = 0; part < kArcParts; ++part) parts_[part].apart = hash_distances(by_part[part]);
}

Index ArcPlan::add_view(const ArcTerm& term) {
  auto& views = term.function == ArcFunction::each ? several_ : single_;
  const ArcView wanted{term.function, term.column, term.length};
  const auto found = std::find(views.begin(), views.end(), wanted);
  if (found != views.end()) return found - views.begin();
  views.push_back(wanted);
  return static_cast<Index>(views.size()) - 1;
}

TemplateHash ArcPlan::make_hash(const ArcTemplate& each) {
  TemplateHash out;
  const Key seed = make_seed(each);
  for (int role = 0; role < kArcRoles; ++role) out.words[role].seed = mix(seed, spread(static_cast<Key>(role)));
  out.between_seed = mix(seed, spread(kArcRoles));
  for (const ArcTerm& term : each.terms) {
    const Index view = add_view(term);
    if (term.role == ArcRole::between) {
      out.between = view;
      continue;
    }
    WordHash& word = out.words[static_cast<int>(term.role)];
    if (term.function == ArcFunction::each) word.list = view, word.list_offset = term.offset;
    else word.cells.push_back({view, term.offset});
  }
  return out;
}

}  // namespace certus::features
