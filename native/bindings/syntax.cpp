// Grammars, and the best trees of sentences under them.
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>

#include "base/parallel.hpp"
#include "bindings/arrays.hpp"
#include "bindings/relax_part.hpp"
#include "bindings/vectors.hpp"
#include "syntax/constituency/parses.hpp"
#include "syntax/constituency/part.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace syntax;
using hypergraph::Given;

// Word i has the leaves [first[i], first[i + 1]), sorted by symbol.
Leaves leaves_of(const Index* first, Index length, const Label* symbol, const double* score) {
  Leaves out;
  out.first.reserve(static_cast<std::size_t>(length) + 1);
  for (Index i = 0; i <= length; ++i) out.first.push_back(static_cast<std::int32_t>(first[i] - first[0]));
  for (Index n = first[0]; n < first[length]; ++n) out.leaves.push_back({symbol[n], score[n]});
  return out;
}

// Calls work(), and says of what would take too much memory how much it would take, and for which sentence.
template <class Work>
auto bounded(Index sentence, const Work& work) {
  try {
    return work();
  } catch (const TooLarge& error) {
    throw std::length_error(std::to_string(sentence) + " " + std::to_string(error.bytes));
  }
}

std::unique_ptr<Grammar> make_grammar(Label start, const Flat<const Label>& tag, const Flat<const Label>& label,
                                      const Table<const Label>& binary, const Flat<const double>& binary_score,
                                      const Table<const Label>& unary, const Flat<const double>& unary_score) {
  const nb::gil_scoped_release released;
  std::vector<Binary> two;
  for (std::size_t n = 0; n < binary.shape(0); ++n) {
    const Label* r = binary.data() + 3 * n;
    two.push_back({r[0], r[1], r[2], binary_score.data()[n]});
  }
  std::vector<Unary> one;
  for (std::size_t n = 0; n < unary.shape(0); ++n)
    one.push_back({unary.data()[2 * n], unary.data()[2 * n + 1], unary_score.data()[n]});
  try {
    return std::make_unique<Grammar>(start, copy(tag), copy(label), std::move(two), one);
  } catch (const PositiveCycle& cycle) {
    throw std::domain_error(std::to_string(cycle.symbol));
  }
}

// Words of sentence s are [word_first[s], word_first[s + 1]); word w has the leaves [leaf_first[w], ...).
std::vector<BestTrees> parse(const Grammar& grammar, const Flat<const Index>& word_first,
                             const Flat<const Index>& leaf_first, const Flat<const Label>& symbol,
                             const Flat<const double>& score, Index k, Index threads) {
  const Index count = extent(word_first) - 1;
  std::vector<BestTrees> out(static_cast<std::size_t>(count));
  parallel(count, threads, [&](Index s, Index) {
    const Index begin = word_first.data()[s], length = word_first.data()[s + 1] - begin;
    const Leaves leaves = leaves_of(leaf_first.data() + begin, length, symbol.data(), score.data());
    out[s] = bounded(s, [&] { return find_best_trees(grammar, leaves, k); });
  });
  return out;
}

// A part whose structures are read as WrittenTree.
RelaxPart make_chart_part(Parses& parses, Index tags, const Flat<const double>& base, const Flat<const Index>& cells) {
  return {std::make_shared<ParsePart>(parses, tags, copy(base), copy(cells)), [](const std::shared_ptr<void>& kept) {
            return nb::cast(WrittenTree(*static_cast<const WrittenTree*>(kept.get())));
          }};
}

// All derivations of a sentence that score at least a threshold.
ParseForest forest(const Grammar& grammar, const Flat<const Index>& leaf_first, const Flat<const Label>& symbol,
                   const Flat<const double>& score, double threshold) {
  const Index length = extent(leaf_first) - 1;
  const Leaves leaves = leaves_of(leaf_first.data(), length, symbol.data(), score.data());
  return bounded(0, [&] {
    Chart chart;
    chart.fill(grammar, leaves, nullptr, 0);
    return pack(grammar, chart, leaves, chart.best() - threshold + chart.rounding());
  });
}

// Numbers as Python's Hypergraph takes them.
template <class X>
auto widen(const std::vector<X>& values) {
  return array(std::vector<Index>(values.begin(), values.end()));
}
template <class X>
std::vector<X> narrow(const Flat<const Index>& values) {
  return {values.data(), values.data() + values.shape(0)};
}
// The node that each edge derives.
auto list_heads(const ParseForest& forest) {
  std::vector<Index> out;
  for (Index v = 0; v < forest.graph.nodes; ++v)
    out.insert(out.end(), static_cast<std::size_t>(forest.graph.begin[v + 1] - forest.graph.begin[v]), v);
  return array(std::move(out));
}

void bind_syntax_records(nb::module_& m) {
  define_fields(nb::class_<WrittenTree>(m, "WrittenTree"), "labels", &WrittenTree::labels, "arity", &WrittenTree::arity,
                "tags", &WrittenTree::tags, "score", &WrittenTree::score);
  define_fields(nb::class_<BestTrees>(m, "BestTrees"), "trees", &BestTrees::trees, "exhausted", &BestTrees::exhausted,
                "edges", &BestTrees::edges);
  constexpr auto copied = nb::rv_policy::automatic;
  nb::class_<ParseForest> forest(m, "ParseForest");
  define_arrays(forest, "scores", &ParseForest::scores);
  forest
      .def(
          "__init__",
          [](ParseForest* self, const Flat<const Index>& heads, const Flat<const Index>& offsets,
             const Flat<const Index>& tails, Index goal, const Flat<const double>& scores,
             const Flat<const Index>& symbols, const Flat<const Index>& begin, const Flat<const Index>& end) {
            const Given given{extent(symbols), extent(heads), heads.data(), offsets.data(), tails.data(), &goal, 1};
            new (self) ParseForest{hypergraph::Forest(given), copy(scores),
                                   narrow<Label>(symbols),    narrow<std::int32_t>(begin),
                                   narrow<std::int32_t>(end), {}};
          },
          "heads"_a, "offsets"_a, "tails"_a, "goal"_a, "scores"_a, "symbols"_a, "begin"_a, "end"_a)
      .def_prop_ro("heads", &list_heads, copied)
      .def_prop_ro(
          "offsets", [](const ParseForest& f) { return widen(f.graph.tail_begin); }, copied)
      .def_prop_ro(
          "tails", [](const ParseForest& f) { return widen(f.graph.tail); }, copied)
      .def_prop_ro("goal", [](const ParseForest& f) { return f.graph.goal(); })
      .def_prop_ro(
          "symbols", [](const ParseForest& f) { return widen(f.symbols); }, copied)
      .def_prop_ro(
          "begin", [](const ParseForest& f) { return widen(f.begin); }, copied)
      .def_prop_ro("end", [](const ParseForest& f) { return widen(f.end); }, copied);
}

}  // namespace

void bind_syntax(nb::module_& m) {
  bind_syntax_records(m);
  nb::class_<Grammar>(m, "Syntax")
      .def(nb::new_(&make_grammar), "start"_a, "tag"_a.noconvert(), "label"_a.noconvert(), "binary"_a.noconvert(),
           "binary_score"_a.noconvert(), "unary"_a.noconvert(), "unary_score"_a.noconvert())
      .def("forest", &forest, "leaf_first"_a.noconvert(), "symbol"_a.noconvert(), "score"_a.noconvert(), "threshold"_a,
           Unlocked())
      .def(
          "write_tree",
          [](const Grammar& self, const ParseForest& forest, const Flat<const Index>& derivation) {
            const Index* edges = derivation.data();
            return write_tree(self, forest, {edges, edges + derivation.shape(0)});
          },
          "forest"_a, "derivation"_a.noconvert())
      .def("parse", &parse, "word_first"_a.noconvert(), "leaf_first"_a.noconvert(), "symbol"_a.noconvert(),
           "score"_a.noconvert(), "k"_a, "threads"_a, Unlocked());
  nb::class_<Parses>(m, "Parses")
      .def(
          "__init__",
          [](Parses* self, const Grammar& grammar, const Flat<const Index>& leaf_first, const Flat<const Label>& symbol,
             const Flat<const double>& score, Index tags) {
            const Index length = extent(leaf_first) - 1;
            new (self) Parses(grammar, leaves_of(leaf_first.data(), length, symbol.data(), score.data()), tags);
          },
          "grammar"_a, "leaf_first"_a.noconvert(), "symbol"_a.noconvert(), "score"_a.noconvert(), "tags"_a,
          nb::keep_alive<1, 2>())
      .def(
          "maximize",
          [](Parses& self, const Table<const double>& adjust) {
            return bounded(0, [&] { return self.maximize(adjust.data()); });
          },
          "adjust"_a.noconvert(), Unlocked())
      .def(
          "maximize_unadjusted", [](Parses& self) { return bounded(0, [&] { return self.maximize_unadjusted(); }); },
          Unlocked())
      .def("write_best", &Parses::write_best)
      .def(
          "max_marginals",
          [](Parses& self, const Table<const double>& adjust, const Table<double>& out, bool exact) {
            bounded(0, [&] { self.max_marginals(adjust.data(), exact, out.data()); });
          },
          "adjust"_a.noconvert(), "out"_a.noconvert(), "exact"_a, Unlocked())
      .def("make_part", &make_chart_part, "tags"_a, "base"_a.noconvert(), "cells"_a.noconvert(), nb::keep_alive<0, 1>())
      .def_prop_ro("parsed", &Parses::parsed)
      .def_prop_ro("edges", &Parses::edges);
}

}  // namespace certus
