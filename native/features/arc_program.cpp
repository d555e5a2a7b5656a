#include "features/arc_program.hpp"

#include <stdexcept>

namespace certus::features {
namespace {

[[noreturn]] void fail() { throw std::invalid_argument("the compiled templates of arcs are damaged"); }

class ArcProgramReader {
 public:
  explicit ArcProgramReader(const std::vector<std::int32_t>& numbers) : numbers_(numbers) {}

  std::int32_t read(std::int32_t least, std::int32_t most) {
    if (at_ == numbers_.size()) fail();
    const std::int32_t x = numbers_[at_++];
    if (x < least || x > most) fail();
    return x;
  }
  bool at_end() const { return at_ == numbers_.size(); }
  std::int32_t left() const { return static_cast<std::int32_t>(numbers_.size() - at_); }

 private:
  const std::vector<std::int32_t>& numbers_;
  std::size_t at_ = 0;
};

ArcTerm read_term(ArcProgramReader& reader, std::int32_t columns) {
  ArcTerm term{};
  term.role = static_cast<ArcRole>(reader.read(0, kArcRoles));
  term.function = static_cast<ArcFunction>(reader.read(0, static_cast<std::int32_t>(ArcFunction::each)));
  term.column = reader.read(0, columns - 1);
  constexpr auto kFarthest = static_cast<std::int32_t>(kFarthestArc);
  term.offset = reader.read(-kFarthest, kFarthest);
  term.length = reader.read(term.is_affix() ? 1 : 0, term.is_affix() ? 16 : 0);
  if (term.role == ArcRole::between && (term.function != ArcFunction::text || term.offset != 0)) fail();
  return term;
}

// A template has one term of several values at most for each role.
void check(const ArcTemplate& each) {
  std::int32_t several[kArcRoles + 1] = {};
  for (const ArcTerm& term : each.terms)
    if (term.is_several() && ++several[static_cast<int>(term.role)] > 1) fail();
  const bool has_between = several[kArcRoles] > 0;
  if ((has_between || each.relation) && each.part != ArcPart::arc) fail();
}

}  // namespace

std::vector<ArcTemplate> read_arc_program(const std::vector<std::int32_t>& program, Index columns) {
  ArcProgramReader reader(program);
  reader.read(kArcVersion, kArcVersion);
  std::vector<ArcTemplate> templates(static_cast<std::size_t>(reader.read(1, reader.left())));
  for (ArcTemplate& each : templates) {
    each.part = static_cast<ArcPart>(reader.read(0, kArcParts - 1));
    each.relation = reader.read(0, 1) != 0;
    each.distance = reader.read(0, 1) != 0;
    for (std::int32_t terms = reader.read(0, 16); terms > 0; --terms)
      each.terms.push_back(read_term(reader, static_cast<std::int32_t>(columns)));
    check(each);
  }
  if (!reader.at_end()) fail();
  return templates;
}

}  // namespace certus::features
