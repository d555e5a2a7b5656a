// Dependency trees over scores: candidate arcs, and what finds the best trees among them.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"
#include "syntax/dependency/arcs.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using syntax::Arcs;
using syntax::TreeScores;

template <class S>
using Optional = std::optional<Flat<const S>>;

// Scores as they come from Python, each kind of the length that the arcs ask for.
template <class S>
TreeScores<S> scores_of(const Arcs& arcs, const Flat<const S>& arc_scores, const Optional<S>& siblings,
                        const Optional<S>& grandparents, const Optional<S>& grandsiblings) {
  const auto check = [](const Optional<S>& given, Index size) -> const S* {
    if (!given) return nullptr;
    if (extent(*given) != size)
      refuse("there are " + std::to_string(extent(*given)) + " scores for " + std::to_string(size) + " parts of trees");
    return given->data();
  };
  if (extent(arc_scores) != arcs.size()) refuse("every arc needs a score");
  return {arc_scores.data(), check(siblings, arcs.siblings()), check(grandparents, arcs.grandparents()),
          check(grandsiblings, arcs.grandsiblings())};
}

// The arc into each word, each of them an arc into that word.
const Label* check_tree(const Arcs& arcs, const Flat<const Label>& arc_of) {
  if (extent(arc_of) != arcs.words()) refuse("every word needs an arc");
  for (Index m = 1; m <= arcs.words(); ++m) {
    const Label arc = arc_of.data()[m - 1];
    if (arc < 0 || arc >= arcs.size() || arcs.modifier(arc) != m)
      refuse("arc " + std::to_string(arc) + " does not lead to word " + std::to_string(m));
  }
  return arc_of.data();
}

template <class S>
double score_tree(const Arcs& arcs, const Flat<const S>& arc_scores, const Optional<S>& siblings,
                  const Optional<S>& grandparents, const Optional<S>& grandsiblings, const Flat<const Label>& arc_of) {
  const TreeScores<S> scores = scores_of<S>(arcs, arc_scores, siblings, grandparents, grandsiblings);
  return syntax::score_tree(arcs, scores, check_tree(arcs, arc_of));
}

template <class S>
void bind_scores(nb::module_& m) {
  m.def("score_dependency_tree", &score_tree<S>, "arcs"_a, "arc_scores"_a.noconvert(), "siblings"_a.noconvert().none(),
        "grandparents"_a.noconvert().none(), "grandsiblings"_a.noconvert().none(), "arc_of"_a.noconvert());
}

void make_arcs(Arcs* self, Index words, const Flat<const Label>& heads, const Flat<const Label>& modifiers) {
  if (words < 0 || words >= std::numeric_limits<Label>::max()) refuse("there are no sentences of so many words");
  if (extent(heads) != extent(modifiers)) refuse("every arc needs a head and a modifier");
  const Index fault = Arcs::find_fault(words, heads.data(), modifiers.data(), extent(heads));
  if (fault >= 0)
    refuse("arc " + std::to_string(fault) + ", from " + std::to_string(heads.data()[fault]) + " to " +
           std::to_string(modifiers.data()[fault]) + ", is out of order or not an arc of this sentence");
  new (self) Arcs(words, heads.data(), modifiers.data(), extent(heads));
}

constexpr auto kCopied = nb::rv_policy::automatic;
template <class X>
auto copy_field(const std::vector<X>& (Arcs::*field)() const) {
  return [field](const Arcs& self) { return array(std::vector<X>((self.*field)())); };
}

void bind_arcs(nb::module_& m) {
  nb::class_<Arcs>(m, "DependencyArcs")
      .def("__init__", &make_arcs, "words"_a, "heads"_a.noconvert(), "modifiers"_a.noconvert())
      .def_static(
          "all",
          [](Index words) {
            Arcs arcs;
            arcs.assign_all(words);
            return arcs;
          },
          "words"_a)
      .def("__len__", &Arcs::size)
      .def_prop_ro("words", &Arcs::words)
      .def_prop_ro("heads", copy_field(&Arcs::heads), kCopied)
      .def_prop_ro("modifiers", copy_field(&Arcs::all_modifiers), kCopied)
      .def_prop_ro("sibling_offsets", copy_field(&Arcs::sibling_begin), kCopied)
      .def_prop_ro("grandparent_offsets", copy_field(&Arcs::grandparent_begin), kCopied)
      .def_prop_ro("grandsibling_offsets", copy_field(&Arcs::grandsibling_begin), kCopied);
}

}  // namespace

void bind_dependency(nb::module_& m) {
  bind_arcs(m);
  bind_scores<float>(m);
  bind_scores<double>(m);
}

}  // namespace certus
