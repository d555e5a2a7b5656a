// Dependency trees over scores: candidate arcs, and what finds the best trees among them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"
#include "syntax/dependency/arcs.hpp"
#include "syntax/dependency/kbest.hpp"
#include "syntax/dependency/matrix_tree.hpp"
#include "syntax/dependency/projective.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using syntax::Arcs;
using syntax::ProjectiveTrees;
using syntax::RankedTrees;
using syntax::TreeScores;

template <class S>
using Optional = std::optional<Flat<const S>>;

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

// The scores of a sentence, which lie where Python has them.
template <class S>
struct Scored {
  const Arcs* arcs;
  Flat<const S> arc_scores;
  Optional<S> siblings, grandparents, grandsiblings;

  static const S* find(const Optional<S>& given) { return given ? given->data() : nullptr; }
  TreeScores<S> view() const { return {arc_scores.data(), find(siblings), find(grandparents), find(grandsiblings)}; }
};

template <class S>
void make_scored(Scored<S>* self, const Arcs& arcs, const Flat<const S>& arc_scores, const Optional<S>& siblings,
                 const Optional<S>& grandparents, const Optional<S>& grandsiblings) {
  const auto check = [](const Optional<S>& given, Index size) {
    if (given && extent(*given) != size)
      refuse("there are " + std::to_string(extent(*given)) + " scores for " + std::to_string(size) + " parts of trees");
  };
  if (extent(arc_scores) != arcs.size()) refuse("every arc needs a score");
  check(siblings, arcs.siblings());
  check(grandparents, arcs.grandparents());
  check(grandsiblings, arcs.grandsiblings());
  new (self) Scored<S>{&arcs, arc_scores, siblings, grandparents, grandsiblings};
}

void check_length(const Flat<Label>& arc_of, const Arcs& arcs) {
  if (extent(arc_of) != arcs.words()) refuse("every word needs an arc");
}
void check_room(const Flat<double>& out, const Arcs& arcs) {
  if (extent(out) != arcs.size()) refuse("every arc needs room for a number");
}

template <class S>
double score_tree(const Scored<S>& self, const Flat<Label>& arc_of) {
  check_length(arc_of, *self.arcs);
  for (Index m = 1; m <= self.arcs->words(); ++m) {
    const Label arc = arc_of.data()[m - 1];
    if (arc < 0 || arc >= self.arcs->size() || self.arcs->modifier(arc) != m)
      refuse("arc " + std::to_string(arc) + " does not lead to word " + std::to_string(m));
  }
  return syntax::score_tree(*self.arcs, self.view(), arc_of.data());
}

thread_local ProjectiveTrees projective;
thread_local syntax::MatrixTree matrix_tree;

// The score of the best projective tree, or None where there is none.
template <class S>
std::optional<double> decode_projective(const Scored<S>& self, bool single_root, const Flat<Label>& arc_of) {
  check_length(arc_of, *self.arcs);
  if (!projective.build(*self.arcs, self.view(), single_root)) return std::nullopt;
  return projective.decode(arc_of.data());
}

template <class S>
RankedTrees rank_projective(const Scored<S>& self, bool single_root, Index k) {
  if (!projective.build(*self.arcs, self.view(), single_root)) return {};
  return syntax::rank_trees(*self.arcs, projective.program(), k);
}

template <class S>
std::optional<double> bound_projective(const Scored<S>& self, bool single_root, const Flat<double>& out) {
  check_room(out, *self.arcs);
  if (!projective.build(*self.arcs, self.view(), single_root)) return std::nullopt;
  return projective.max_marginals(out.data());
}

template <class S>
std::optional<double> sum_projective(const Scored<S>& self, bool single_root, const Flat<double>& out) {
  check_room(out, *self.arcs);
  if (!projective.build(*self.arcs, self.view(), single_root)) return std::nullopt;
  return projective.marginals(out.data());
}

// How many of the best trees with an arc, one for each arc, use each arc and each sibling part.
template <class S>
bool count_projective(const Scored<S>& self, bool single_root, const Flat<double>& arcs, const Flat<double>& siblings) {
  check_room(arcs, *self.arcs);
  if (extent(siblings) != self.arcs->siblings()) refuse("every sibling part needs room for a number");
  if (!projective.build(*self.arcs, self.view(), single_root)) return false;
  projective.max_marginals(arcs.data());
  projective.program().count_max_marginal_trees(self.arcs->size(), arcs.data(), siblings.data());
  return true;
}

template <class S>
std::optional<double> sum_trees(const Scored<S>& self, bool single_root, const Flat<double>& out) {
  check_room(out, *self.arcs);
  const double sum = matrix_tree.marginals(*self.arcs, self.arc_scores.data(), single_root, out.data());
  if (sum == kNever<double>) return std::nullopt;
  return sum;
}

template <class S>
void bind_scores(nb::module_& m, const char* name) {
  nb::class_<Scored<S>>(m, name)
      .def("__init__", &make_scored<S>, "arcs"_a, "arc_scores"_a.noconvert(), "siblings"_a.noconvert().none(),
           "grandparents"_a.noconvert().none(), "grandsiblings"_a.noconvert().none(), nb::keep_alive<1, 2>())
      .def("score", &score_tree<S>, "arc_of"_a.noconvert())
      .def("decode_projective", &decode_projective<S>, "single_root"_a, "arc_of"_a.noconvert(), Unlocked())
      .def("rank_projective", &rank_projective<S>, "single_root"_a, "k"_a, Unlocked())
      .def("projective_max_marginals", &bound_projective<S>, "single_root"_a, "out"_a.noconvert(), Unlocked())
      .def("projective_marginals", &sum_projective<S>, "single_root"_a, "out"_a.noconvert(), Unlocked())
      .def("count_max_marginal_trees", &count_projective<S>, "single_root"_a, "arcs"_a.noconvert(),
           "siblings"_a.noconvert(), Unlocked())
      .def("marginals", &sum_trees<S>, "single_root"_a, "out"_a.noconvert(), Unlocked());
}

}  // namespace

void bind_dependency(nb::module_& m) {
  bind_arcs(m);
  define_arrays(define_fields(nb::class_<RankedTrees>(m, "RankedTrees"), "exhausted", &RankedTrees::exhausted), "arcs",
                &RankedTrees::arcs, "scores", &RankedTrees::scores);
  bind_scores<float>(m, "TreeScores32");
  bind_scores<double>(m, "TreeScores64");
}

}  // namespace certus
