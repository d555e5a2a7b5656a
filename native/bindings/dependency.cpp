// Dependency trees over scores: candidate arcs, and what finds the best trees among them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/vectors.hpp"
#include "relax/spanning_tree.hpp"
#include "scoring/tree_search.hpp"
#include "syntax/dependency/arcs.hpp"
#include "syntax/dependency/free_picks.hpp"
#include "syntax/dependency/kbest.hpp"
#include "syntax/dependency/matrix_tree.hpp"
#include "syntax/dependency/nonprojective.hpp"
#include "syntax/dependency/projective.hpp"
#include "syntax/dependency/vine.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using syntax::Arcs;
using syntax::ProjectiveTrees;
using syntax::RankedTrees;
using syntax::TreeScores;

template <class S>
using Optional = std::optional<Flat<const S>>;

// Also where Python's lock is not held.
[[noreturn]] void reject(const std::string& message) { throw std::invalid_argument(message); }

void make_arcs(Arcs* self, Index words, const Flat<const Label>& heads, const Flat<const Label>& modifiers) {
  if (words < 0 || words >= std::numeric_limits<Label>::max()) reject("there are no sentences of so many words");
  if (extent(heads) != extent(modifiers)) reject("every arc needs a head and a modifier");
  const Index fault = Arcs::find_fault(words, heads.data(), modifiers.data(), extent(heads));
  if (fault >= 0)
    reject("arc " + std::to_string(fault) + ", from " + std::to_string(heads.data()[fault]) + " to " +
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
      reject("there are " + std::to_string(extent(*given)) + " scores for " + std::to_string(size) + " parts of trees");
  };
  if (extent(arc_scores) != arcs.size()) reject("every arc needs a score");
  check(siblings, arcs.siblings());
  check(grandparents, arcs.grandparents());
  check(grandsiblings, arcs.grandsiblings());
  new (self) Scored<S>{&arcs, arc_scores, siblings, grandparents, grandsiblings};
}

void check_length(const Flat<Label>& arc_of, const Arcs& arcs) {
  if (extent(arc_of) != arcs.words()) reject("every word needs an arc");
}
void check_room(const Flat<double>& out, const Arcs& arcs) {
  if (extent(out) != arcs.size()) reject("every arc needs room for a number");
}

template <class S>
double score_tree(const Scored<S>& self, const Flat<Label>& arc_of) {
  check_length(arc_of, *self.arcs);
  for (Index m = 1; m <= self.arcs->words(); ++m) {
    const Label arc = arc_of.data()[m - 1];
    if (arc < 0 || arc >= self.arcs->size() || self.arcs->modifier(arc) != m)
      reject("arc " + std::to_string(arc) + " does not lead to word " + std::to_string(m));
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
  if (extent(siblings) != self.arcs->siblings()) reject("every sibling part needs room for a number");
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

thread_local syntax::NonProjectiveTrees nonprojective;

template <class S>
syntax::DualResult decode_tree(const Scored<S>& self, bool single_root, double seconds, Index nodes,
                               Index paper_iterations, const Flat<Label>& arc_of) {
  check_length(arc_of, *self.arcs);
  const syntax::DualOptions options{single_root, seconds, nodes, paper_iterations};
  return nonprojective.decode(*self.arcs, self.view(), options, arc_of.data());
}

thread_local scoring::TreeSearch tree_search;

// The best projective tree; where the time is over, another one with its bound.
syntax::DualResult find_projective(const Scored<double>& self, bool single_root, double seconds,
                                   const Flat<Label>& arc_of) {
  check_length(arc_of, *self.arcs);
  scoring::FoundTree found;
  tree_search.find(*self.arcs, self.view(), {.projective = true, .single_root = single_root, .seconds = seconds},
                   found);
  syntax::DualResult out;
  out.found = found.exists;
  out.end = found.in_time ? syntax::DualEnd::proven : syntax::DualEnd::seconds;
  if (!found.exists) return out;
  std::copy(found.arc_of.begin(), found.arc_of.end(), arc_of.data());
  out.score = found.score;
  out.bound = found.bound;
  return out;
}

RankedTrees rank_trees(const Scored<double>& self, bool projective_only, bool single_root, Index k, double seconds) {
  return tree_search.rank(*self.arcs, self.view(),
                          {.projective = projective_only, .single_root = single_root, .seconds = seconds}, k);
}

thread_local syntax::FreePicks free_picks;

// The score of what automata pick by themselves, or None where one has nothing to pick: 1 for each arc that is picked
// by its head, and as the parent of its modifier.
std::optional<double> pick_freely(const Scored<double>& self, const Flat<std::uint8_t>& picked,
                                  const Flat<std::uint8_t>& parents) {
  if (extent(picked) != self.arcs->size() || extent(parents) != self.arcs->size()) reject("every arc needs room");
  std::fill_n(picked.data(), extent(picked), std::uint8_t{0});
  std::fill_n(parents.data(), extent(parents), std::uint8_t{0});
  const std::vector<double> nothing(static_cast<std::size_t>(self.arcs->size()), 0.0);
  const double score = free_picks.find(*self.arcs, self.view(), nothing.data());
  if (score == kNever<double>) return std::nullopt;
  for (const syntax::Pick& pick : free_picks.all()) {
    for (const Label arc : pick.arcs) picked.data()[arc] = 1;
    if (pick.parent >= 0) parents.data()[pick.parent] = 1;
  }
  return score;
}

template <class S>
void bind_scores(nb::module_& m, const char* name) {
  auto scored = nb::class_<Scored<S>>(m, name);
  if constexpr (std::is_same_v<S, double>)
    scored.def("pick_freely", &pick_freely, "picked"_a.noconvert(), "parents"_a.noconvert(), Unlocked())
        .def("find_projective", &find_projective, "single_root"_a, "seconds"_a, "arc_of"_a.noconvert(), Unlocked())
        .def("rank", &rank_trees, "projective"_a, "single_root"_a, "k"_a, "seconds"_a, Unlocked());
  scored
      .def("__init__", &make_scored<S>, "arcs"_a, "arc_scores"_a.noconvert(), "siblings"_a.noconvert().none(),
           "grandparents"_a.noconvert().none(), "grandsiblings"_a.noconvert().none(), nb::keep_alive<1, 2>())
      .def("score", &score_tree<S>, "arc_of"_a.noconvert())
      .def("decode_projective", &decode_projective<S>, "single_root"_a, "arc_of"_a.noconvert(), Unlocked())
      .def("projective_max_marginals", &bound_projective<S>, "single_root"_a, "out"_a.noconvert(), Unlocked())
      .def("projective_marginals", &sum_projective<S>, "single_root"_a, "out"_a.noconvert(), Unlocked())
      .def("count_max_marginal_trees", &count_projective<S>, "single_root"_a, "arcs"_a.noconvert(),
           "siblings"_a.noconvert(), Unlocked())
      .def("decode", &decode_tree<S>, "single_root"_a, "seconds"_a, "nodes"_a, "paper_iterations"_a,
           "arc_of"_a.noconvert(), Unlocked())
      .def("marginals", &sum_trees<S>, "single_root"_a, "out"_a.noconvert(), Unlocked());
}

// The score of the best spanning tree, or None where there is none, the shape is wrong or a score is no number to add.
template <class S>
void bind_spanning_tree(nb::module_& m) {
  m.def(
      "decode_spanning_tree",
      [](const Table<const S>& scores, bool single, const Flat<Index>& heads) -> std::optional<double> {
        const Index n = extent(scores);
        if (extent(scores, 1) != n + 1 || extent(heads) != n) return std::nullopt;
        const double score = relax::span_checked(scores.data(), n, single, heads.data());
        if (!(score > kNever<double>)) return std::nullopt;
        return score;
      },
      "scores"_a.noconvert(), "single"_a, "heads"_a.noconvert(), Unlocked());
}

thread_local syntax::Vine vine;

// Builds the vine of a sentence, and calls work() where it has a structure.
template <class S, class Work>
std::optional<double> visit_vine(const Arcs& arcs, const Flat<const S>& arc_scores, const Flat<const S>& outer,
                                 Index longest, const Flat<double>& out, const Work& work) {
  const Index count = syntax::Vine::count_outer(arcs.words());
  if (longest < 1) reject("short arcs have at least one word");
  if (extent(arc_scores) != arcs.size() || extent(outer) != count) reject("every arc and outer arc needs a score");
  if (extent(out) != arcs.size() + count) reject("every arc and outer arc needs room for a number");
  for (Index a = arcs.begin(1); a < arcs.size(); ++a)
    if (std::abs(arcs.head(a) - arcs.modifier(a)) > longest)
      reject("arc " + std::to_string(a) + " is longer than a short one");
  if (!vine.build(arcs, arc_scores.data(), outer.data(), longest)) return std::nullopt;
  return work();
}

template <class S>
void bind_vine(nb::module_& m) {
  m.def(
      "vine_max_marginals",
      [](const Arcs& arcs, const Flat<const S>& arc_scores, const Flat<const S>& outer, Index longest,
         const Flat<double>& out) {
        return visit_vine(arcs, arc_scores, outer, longest, out, [&] { return vine.max_marginals(out.data()); });
      },
      "arcs"_a, "arc_scores"_a.noconvert(), "outer"_a.noconvert(), "longest"_a, "out"_a.noconvert(), Unlocked());
  m.def(
      "vine_marginals",
      [](const Arcs& arcs, const Flat<const S>& arc_scores, const Flat<const S>& outer, Index longest,
         const Flat<double>& out) {
        return visit_vine(arcs, arc_scores, outer, longest, out, [&] { return vine.marginals(out.data()); });
      },
      "arcs"_a, "arc_scores"_a.noconvert(), "outer"_a.noconvert(), "longest"_a, "out"_a.noconvert(), Unlocked());
  m.def(
      "count_vine_max_marginal_trees",
      [](const Arcs& arcs, const Flat<const S>& arc_scores, const Flat<const S>& outer, Index longest,
         const Flat<double>& out) {
        return visit_vine(arcs, arc_scores, outer, longest, out, [&] {
          const double best = vine.max_marginals(out.data());
          vine.count_max_marginal_trees(out.data());
          return best;
        });
      },
      "arcs"_a, "arc_scores"_a.noconvert(), "outer"_a.noconvert(), "longest"_a, "out"_a.noconvert(), Unlocked());
}

}  // namespace

void bind_dependency(nb::module_& m) {
  bind_arcs(m);
  define_arrays(define_fields(nb::class_<RankedTrees>(m, "RankedTrees"), "exhausted", &RankedTrees::exhausted), "arcs",
                &RankedTrees::arcs, "scores", &RankedTrees::scores, "bounds", &RankedTrees::bounds);
  using syntax::DualEnd, syntax::DualResult;
  nb::enum_<DualEnd>(m, "DualEnd")
      .value("PROVEN", DualEnd::proven)
      .value("SECONDS", DualEnd::seconds)
      .value("NODES", DualEnd::nodes)
      .value("ITERATIONS", DualEnd::iterations);
  define_fields(nb::class_<DualResult>(m, "DualResult"), "found", &DualResult::found, "score", &DualResult::score,
                "bound", &DualResult::bound, "end", &DualResult::end, "iterations", &DualResult::iterations, "nodes",
                &DualResult::nodes, "fixed", &DualResult::fixed, "automata", &DualResult::automata, "solved",
                &DualResult::solved);
  bind_scores<float>(m, "TreeScores32");
  bind_scores<double>(m, "TreeScores64");
  bind_spanning_tree<float>(m);
  bind_spanning_tree<double>(m);
  bind_vine<float>(m);
  bind_vine<double>(m);
}

}  // namespace certus
