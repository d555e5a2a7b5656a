// Decompositions: parts, the search for the best whole, and spanning trees.
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python_part.hpp"
#include "bindings/relax_part.hpp"
#include "bindings/sentence.hpp"
#include "bindings/vectors.hpp"
#include "chain/marginals/max_marginals.hpp"
#include "relax/factor_graph.hpp"
#include "relax/merging.hpp"
#include "relax/parts/automata.hpp"
#include "relax/parts/bigram_chain.hpp"
#include "relax/parts/budget_chain.hpp"
#include "relax/parts/chain.hpp"
#include "relax/parts/cluster.hpp"
#include "relax/parts/logic.hpp"
#include "relax/parts/matching.hpp"
#include "relax/parts/state_automata.hpp"
#include "relax/parts/table.hpp"
#include "relax/parts/tree.hpp"
#include "relax/search.hpp"
#include "relax/spanning_tree.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace relax;
using Flags = Flat<const std::uint8_t>;
using Doubles = Flat<const double>;
using Indices = Flat<const Index>;

// Why a search had to stop: what a part said cannot be.
enum class SearchFailure : std::uint8_t { none, not_whole, too_large, contradiction, loose_reserves, part_error };

// A problem, and the search for its best whole. Shapes and ranges are checked in Python before anything comes here.
class Relaxation {
 public:
  Relaxation() = default;
  Relaxation(const Relaxation&) = delete;
  Relaxation& operator=(const Relaxation&) = delete;

  void add(const RelaxPart& part, Indices variables, double weight) {
    problem_.add(part.part, copy(variables), weight);
    readers_.push_back(part.read);
  }
  void add_graph(const FactorGraph& graph) {
    for (Index p = 0; p < graph.parts(); ++p) {
      problem_.add(graph.part(p), graph.cells(p));
      readers_.push_back(nullptr);
    }
  }
  void link(Index variables, Flags reserve) { problem_.link(variables, copy(reserve)); }

  // The next run goes on where that of another relaxation ended, which has the same first variables; it began so many
  // seconds ago.
  void carry_on(const Relaxation& other, double seconds, Index variables) {
    std::vector<std::int8_t> on = other.list_on();
    if (!on.empty()) on.resize(variables);
    earlier_ = {seconds, other.search->bound(), other.search->nodes(), other.search->trace(), std::move(on)};
  }

  // Once. What it throws leaves all that was found by then.
  SearchEnd run(const SearchLimits& limits, const OptimizerOptions& options, nb::object progress) {
    search = std::make_unique<Search>(problem_, limits, options);
    search->carry_on(std::move(earlier_));
    if (!progress.is_none())
      search->progress = [&progress](const SearchProgress& now) {
        const nb::gil_scoped_acquire lock;
        const TimeLimit::Lifted lifted;
        progress(now);
      };
    const nb::gil_scoped_release released;
    try {
      return search->run();
    } catch (const NotWhole& wrong) {
      failure = SearchFailure::not_whole;
      part = wrong.part;
    } catch (const TooLarge& wrong) {
      failure = SearchFailure::too_large;
      score = wrong.magnitude;
    } catch (const Contradiction& wrong) {
      failure = SearchFailure::contradiction;
      score = wrong.score;
      dual = wrong.dual;
    } catch (const LooseReserves&) {
      failure = SearchFailure::loose_reserves;
    } catch (const PartError& wrong) {
      failure = SearchFailure::part_error;
      for (Index p = 0; p < problem_.parts(); ++p)
        if (&problem_.part(p) == wrong.part) part = p;
      cell = wrong.cell;
      message = wrong.message;
    }
    return SearchEnd::failed;
  }

  std::vector<Index> count_calls(Index (Dual::*count)(Index) const) const {
    std::vector<Index> counts(problem_.parts());
    for (Index p = 0; p < problem_.parts(); ++p) counts[p] = (search->dual().*count)(p);
    return counts;
  }
  std::vector<Index> count_completions() const {
    std::vector<Index> counts(problem_.parts());
    for (Index p = 0; p < problem_.parts(); ++p) counts[p] = search->rounding().completions(p);
    return counts;
  }
  // What of each variable the best whole uses: [variables].
  std::vector<std::int8_t> list_on() const {
    if (search->score() == kNever<double>) return {};
    std::vector<std::int8_t> on(problem_.variables(), 0);
    for (Index p = 0; p < problem_.parts(); ++p)
      for (const Index c : search->best().used[p]) on[problem_.variable(problem_.begin(p) + c)] = 1;
    return on;
  }

  // Of the last state, [copies].
  auto list_multipliers() const {
    std::vector<double> multipliers;
    search->dual().copy_multipliers(multipliers);
    return array(std::move(multipliers));
  }

  // The structure of a part in the best whole; None where the used cells say it all.
  nb::object read_structure(Index p) const {
    const std::shared_ptr<void>& kept = search->best().kept[p];
    if (!kept) return nb::none();
    return readers_[p] ? readers_[p](kept) : nb::object(*static_cast<nb::object*>(kept.get()));
  }

  bool began() const { return search != nullptr; }  // else there is nothing to read yet

  std::unique_ptr<Search> search;
  SearchFailure failure = SearchFailure::none;
  Index part = -1, cell = -1;  // `not_whole`, `part_error`: of which part; a cell that it uses twice,
  std::string message;         // or what it says
  double score = 0, dual = 0;  // `contradiction`: of the whole, and the bound; `too_large`: the magnitude

 private:
  Problem problem_;
  EarlierSearch earlier_;
  std::vector<decltype(RelaxPart::read)> readers_;  // [parts]
};

template <class P, class... Arguments>
RelaxPart make_part(Arguments&&... arguments) {
  return {std::make_shared<P>(std::forward<Arguments>(arguments)...)};
}

// What a part chose by itself.
struct PartChoice {
  double score;  // without the adjustments, -inf where they leave nothing
  std::vector<Index> used;
};

// Adjustments [cells] of a part that no search has.
void adjust_part(const RelaxPart& held, Doubles adjust) {
  for (Index c = 0; c < held.part->cells(); ++c) held.part->adjust(c, adjust.data()[c]);
}

PartChoice maximize_part(const RelaxPart& held, Doubles adjust) {
  adjust_part(held, adjust);
  const nb::gil_scoped_release released;
  PartChoice choice;
  choice.score = held.part->maximize(choice.used);
  return choice;
}

void find_max_marginals(const RelaxPart& held, Doubles adjust, Flat<double> with, Flat<double> without) {
  adjust_part(held, adjust);
  const nb::gil_scoped_release released;
  held.part->max_marginals(with.data(), without.data());
}

// The score of the structure that uses these cells; -inf where there is none.
double complete_part(const RelaxPart& held, Indices cells) {
  const std::vector<Index> used = copy(cells);
  const nb::gil_scoped_release released;
  double score = kNever<double>;
  held.part->complete(used, &score);
  return score;
}

void bind_parts(nb::module_& m) {
  nb::class_<PartChoice> choice(m, "PartChoice");
  choice.def_ro("score", &PartChoice::score);
  define_arrays(choice, "used", &PartChoice::used);
  nb::class_<RelaxPart>(m, "RelaxPart")
      .def_prop_ro("cells", [](const RelaxPart& held) { return held.part->cells(); })
      .def("maximize", &maximize_part, "adjust"_a.noconvert())
      .def("max_marginals", &find_max_marginals, "adjust"_a.noconvert(), "used"_a.noconvert(), "without"_a.noconvert())
      .def("complete", &complete_part, "cells"_a.noconvert());
  m.def(
      "make_python_part",
      [](nb::object oracle, Index cells) { return make_part<PythonPart>(std::move(oracle), cells); }, "oracle"_a,
      "cells"_a);
  m.def(
      "make_chain_part",
      [](const Model<double>& model, Doubles emissions) { return make_part<relax::ChainPart>(model, copy(emissions)); },
      "model"_a, "emissions"_a.noconvert(), nb::keep_alive<0, 1>());
  m.def(
      "make_bigram_chain_part",
      [](const Model<double>& model, Doubles emissions, Doubles pairs, Doubles start, Doubles end) {
        return make_part<BigramChainPart>(model, copy(emissions), copy(pairs), copy(start), copy(end));
      },
      "model"_a, "emissions"_a.noconvert(), "pairs"_a.noconvert(), "start"_a.noconvert(), "end"_a.noconvert(),
      nb::keep_alive<0, 1>());
  m.def(
      "make_tree_part",
      [](Doubles scores, Index words, bool single) { return make_part<relax::TreePart>(copy(scores), words, single); },
      "scores"_a.noconvert(), "words"_a, "single"_a);
  m.def(
      "make_head_automata",
      [](Doubles arcs, Doubles siblings, Index words) {
        return make_part<HeadAutomata>(copy(arcs), siblings.data(), words);
      },
      "arcs"_a.noconvert(), "siblings"_a.noconvert(), "words"_a, nb::keep_alive<0, 2>());
  m.def(
      "make_state_automata",
      [](Doubles arcs, Doubles steps, Doubles start, Doubles stop, Index words, Index states) {
        return make_part<StateAutomata>(copy(arcs), copy(steps), copy(start), copy(stop), words, states);
      },
      "arcs"_a.noconvert(), "steps"_a.noconvert(), "start"_a.noconvert(), "stop"_a.noconvert(), "words"_a, "states"_a);
  m.def(
      "make_matching",
      [](Doubles scores, Index rows, Index columns, bool rows_covered, bool columns_covered) {
        return make_part<MatchingPart>(copy(scores), rows, columns, rows_covered, columns_covered);
      },
      "scores"_a.noconvert(), "rows"_a, "columns"_a, "rows_covered"_a, "columns_covered"_a);
  m.def(
      "make_budget_chain",
      [](Doubles emissions, Doubles start, Doubles transitions, Doubles end, Flags counted, Index least, Index most) {
        return make_part<BudgetChainPart>(
            copy(emissions), BudgetChainPart::Scores{copy(start), copy(transitions), copy(end), copy(counted)}, least,
            most);
      },
      "emissions"_a.noconvert(), "start"_a.noconvert(), "transitions"_a.noconvert(), "end"_a.noconvert(), "counted"_a,
      "least"_a, "most"_a);
  m.def(
      "make_table_part",
      [](const std::vector<Index>& shape, Flags single, Doubles table, Doubles scores) {
        return make_part<TablePart>(shape, copy(single), copy(table), copy(scores));
      },
      "shape"_a, "single"_a, "table"_a, "scores"_a);
  m.def(
      "make_cluster_part",
      [](const std::vector<Index>& shape, const std::vector<std::vector<Index>>& scopes, Doubles table,
         Doubles scores) { return make_part<ClusterPart>(shape, scopes, copy(table), copy(scores)); },
      "shape"_a, "scopes"_a, "table"_a, "scores"_a);
  m.def(
      "make_count_part",
      [](Doubles scores, Flags negated, Index least, Index most) {
        return make_part<CountPart>(copy(scores), copy(negated), least, most);
      },
      "scores"_a, "negated"_a, "least"_a, "most"_a);
  m.def(
      "make_or_output_part",
      [](Doubles scores, Flags negated) { return make_part<OrOutputPart>(copy(scores), copy(negated)); }, "scores"_a,
      "negated"_a);
  m.def(
      "make_knapsack_part",
      [](Doubles scores, Flags negated, Indices weights, Index capacity) {
        return make_part<KnapsackPart>(copy(scores), copy(negated), copy(weights), capacity);
      },
      "scores"_a, "negated"_a, "weights"_a, "capacity"_a);
}

FactorGraph* make_graph(Doubles scores, Indices cells, Indices states, Flags binary) {
  std::vector<GraphVariable> variables;
  for (std::size_t v = 0; v < cells.shape(0); ++v)
    variables.push_back({cells.data()[v], states.data()[v], binary.data()[v] != 0});
  return new FactorGraph(copy(scores), std::move(variables));
}

// The part carries the scores of its cells that none before it does.
template <class P, class... Arguments>
void add_factor(FactorGraph& graph, std::vector<Index>&& cells, Arguments&&... arguments) {
  std::vector<double> own = graph.take_scores(cells);
  graph.add(std::make_shared<P>(std::move(own), std::forward<Arguments>(arguments)...), std::move(cells));
}

using Bits = std::vector<std::uint8_t>;
using Cells = std::vector<Index>;

void bind_graph(nb::module_& m) {
  nb::class_<FactorGraph::Best> best(m, "GraphAnswer");
  define_arrays(best, "states", &FactorGraph::Best::states);
  best.def_ro("score", &FactorGraph::Best::score);
  nb::class_<FactorGraph>(m, "FactorGraph")
      .def(nb::new_(&make_graph), "scores"_a, "cells"_a, "states"_a, "binary"_a)
      .def(
          "add_table",
          [](FactorGraph& graph, Cells cells, Cells shape, Bits single, Doubles table) {
            std::vector<double> own = graph.take_scores(cells);
            graph.add(std::make_shared<TablePart>(std::move(shape), std::move(single), copy(table), std::move(own)),
                      std::move(cells));
          },
          "cells"_a, "shape"_a, "single"_a, "table"_a)
      .def(
          "add_count",
          [](FactorGraph& graph, Cells cells, Bits negated, Index least, Index most) {
            add_factor<CountPart>(graph, std::move(cells), std::move(negated), least, most);
          },
          "cells"_a, "negated"_a, "least"_a, "most"_a)
      .def(
          "add_or_output",
          [](FactorGraph& graph, Cells cells, Bits negated) {
            add_factor<OrOutputPart>(graph, std::move(cells), std::move(negated));
          },
          "cells"_a, "negated"_a)
      .def(
          "add_knapsack",
          [](FactorGraph& graph, Cells cells, Bits negated, Cells weights, Index capacity) {
            add_factor<KnapsackPart>(graph, std::move(cells), std::move(negated), std::move(weights), capacity);
          },
          "cells"_a, "negated"_a, "weights"_a, "capacity"_a)
      .def("merge", &FactorGraph::merge)
      .def_prop_ro("parts", &FactorGraph::parts)
      .def(
          "part", [](const FactorGraph& graph, Index p) { return RelaxPart{graph.part(p)}; }, "number"_a)
      .def("count_entries", &FactorGraph::count_entries, "most"_a)
      .def("eliminate", &FactorGraph::eliminate, "most"_a, Unlocked());
}

void bind_options(nb::module_& m) {
  nb::enum_<relax::Method>(m, "RelaxMethod")
      .value("AUTO", relax::Method::automatic)
      .value("SUBGRADIENT", relax::Method::subgradient)
      .value("BUNDLE", relax::Method::bundle)
      .value("DESCENT", relax::Method::descent)
      .value("ADMM", relax::Method::admm);
  nb::enum_<StepRule>(m, "StepRule")
      .value("HALVING", StepRule::halving)
      .value("INVERSE", StepRule::inverse)
      .value("DECAY", StepRule::decay)
      .value("POLYAK", StepRule::polyak)
      .value("KOO", StepRule::koo)
      .value("CHANG", StepRule::chang);
  nb::class_<OptimizerOptions>(m, "OptimizerOptions")
      .def(
          "__init__",
          [](OptimizerOptions* self, relax::Method method, StepRule rule, double step, double level, double share,
             double margin,
             Index columns) { new (self) OptimizerOptions{method, rule, step, level, share, margin, columns}; },
          "method"_a, nb::kw_only(), "rule"_a = StepRule::halving, "step"_a = 0.0, "level"_a = 1.0, "share"_a = 0.3,
          "margin"_a = 0.03, "columns"_a = 100);
  nb::class_<SearchLimits>(m, "SearchLimits")
      .def(
          "__init__",
          [](SearchLimits* self, double seconds, Index nodes, double tolerance, Index iterations, bool whole,
             bool tighten) { new (self) SearchLimits{seconds, nodes, tolerance, iterations, whole, tighten}; },
          nb::kw_only(), "seconds"_a, "nodes"_a, "tolerance"_a, "iterations"_a = -1, "whole"_a = false,
          "tighten"_a = true)
      .def_rw("seconds", &SearchLimits::seconds);
}

void bind_search(nb::module_& m) {
  nb::enum_<SearchEnd>(m, "SearchEnd")
      .value("SEARCHED", SearchEnd::searched)
      .value("SECONDS", SearchEnd::seconds)
      .value("NODES", SearchEnd::nodes)
      .value("ITERATIONS", SearchEnd::iterations)
      .value("FAILED", SearchEnd::failed);
  nb::enum_<SearchFailure>(m, "SearchFailure")
      .value("NONE", SearchFailure::none)
      .value("NOT_WHOLE", SearchFailure::not_whole)
      .value("TOO_LARGE", SearchFailure::too_large)
      .value("CONTRADICTION", SearchFailure::contradiction)
      .value("LOOSE_RESERVES", SearchFailure::loose_reserves)
      .value("PART_ERROR", SearchFailure::part_error);
  nb::class_<SearchTrace> trace(m, "SearchTrace");
  trace.def(nb::init<>());
  define_arrays(trace, "seconds", &SearchTrace::seconds, "dual", &SearchTrace::dual, "bound", &SearchTrace::bound,
                "primal", &SearchTrace::primal, "score", &SearchTrace::score, "step", &SearchTrace::step, "nodes",
                &SearchTrace::nodes);
  nb::class_<SearchProgress> progress(m, "SearchProgress");
  define_fields(progress, "iteration", &SearchProgress::iteration, "dual", &SearchProgress::dual, "bound",
                &SearchProgress::bound, "score", &SearchProgress::score, "nodes", &SearchProgress::nodes, "open",
                &SearchProgress::open, "seconds", &SearchProgress::seconds);
  constexpr auto copied = nb::rv_policy::automatic;
  nb::class_<Relaxation> relaxation(m, "Relaxation");
  define_fields(relaxation, "failure", &Relaxation::failure, "failed_part", &Relaxation::part, "failed_cell",
                &Relaxation::cell, "failure_message", &Relaxation::message, "failed_score", &Relaxation::score,
                "failed_dual", &Relaxation::dual);
  relaxation.def(nb::init<>())
      .def("add", &Relaxation::add, "part"_a, "variables"_a, "weight"_a = 1.0, nb::keep_alive<1, 2>())
      .def("add_graph", &Relaxation::add_graph, "graph"_a)
      .def("link", &Relaxation::link, "variables"_a, "reserve"_a)
      .def("carry_on", &Relaxation::carry_on, "other"_a, "seconds"_a, "variables"_a)
      .def("run", &Relaxation::run, "limits"_a, "options"_a, "progress"_a.none())
      .def("structure", &Relaxation::read_structure, "part"_a)
      .def(
          "used", [](const Relaxation& r, Index p) { return array(std::vector<Index>(r.search->best().used[p])); },
          "part"_a)
      .def_prop_ro("began", &Relaxation::began)
      .def_prop_ro("score", [](const Relaxation& r) { return r.search->score(); })
      .def_prop_ro("bound", [](const Relaxation& r) { return r.search->bound(); })
      .def_prop_ro("allowance", [](const Relaxation& r) { return r.search->allowance(); })
      .def_prop_ro("nodes", [](const Relaxation& r) { return r.search->nodes(); })
      .def_prop_ro("fixed", [](const Relaxation& r) { return r.search->fixed(); })
      .def_prop_ro("tightened", [](const Relaxation& r) { return r.search->tightened(); })
      .def_prop_ro("trace", [](const Relaxation& r) { return SearchTrace(r.search->trace()); })
      .def_prop_ro(
          "on", [](const Relaxation& r) { return array(r.list_on()); }, copied)
      .def_prop_ro(
          "average", [](const Relaxation& r) { return array(std::vector<double>(r.search->average())); }, copied)
      .def_prop_ro("multipliers", &Relaxation::list_multipliers, copied)
      .def_prop_ro(
          "best_multipliers",
          [](const Relaxation& r) { return array(std::vector<double>(r.search->best_multipliers())); }, copied)
      .def_prop_ro(
          "calls", [](const Relaxation& r) { return array(r.count_calls(&Dual::calls)); }, copied)
      .def_prop_ro(
          "skipped", [](const Relaxation& r) { return array(r.count_calls(&Dual::skipped)); }, copied)
      .def_prop_ro("completions", [](const Relaxation& r) { return array(r.count_completions()); }, copied);
}

}  // namespace

template <class S>
static void bind_spanning_tree(nb::module_& m) {
  m.def(
      "spanning_tree",
      [](const Table<const S>& scores, bool single, const Flat<Index>& heads) {
        return relax::spanning_tree(scores.data(), extent(scores), single, heads.data());
      },
      "scores"_a.noconvert(), "single"_a, "heads"_a.noconvert(), Unlocked());
}

void bind_relax(nb::module_& m) {
  nb::class_<CellClasses> classes(m, "CellClasses");
  define_arrays(classes, "cells", &CellClasses::cells, "number", &CellClasses::number);
  m.def(
      "merge_cells",
      [](Index size, Indices left, Indices right) {
        return merge_cells(size, left.data(), right.data(), static_cast<Index>(left.shape(0)));
      },
      "size"_a, "left"_a.noconvert(), "right"_a.noconvert());
  bind_parts(m);
  bind_graph(m);
  bind_options(m);
  bind_search(m);
  m.def(
      "max_marginals",
      [](const Model<double>& model, const Matrix<double>& emissions, const Table<double>& out) {
        max_marginals(model, sentence<double>(emissions), out.data());
      },
      "model"_a, "emissions"_a.noconvert(), "out"_a.noconvert(), Unlocked());
  bind_spanning_tree<float>(m);
  bind_spanning_tree<double>(m);
  m.def(
      "bound_trees",
      [](const Table<const double>& scores, bool single, const Flat<Index>& heads, const Table<double>& bounds) {
        return relax::bound_trees(scores.data(), extent(scores), single, heads.data(), bounds.data());
      },
      "scores"_a.noconvert(), "single"_a, "heads"_a.noconvert(), "bounds"_a.noconvert(), Unlocked());
  m.def(
      "tree_max_marginals",
      [](const Table<const double>& scores, bool single, const Table<double>& out) {
        relax::tree_max_marginals(scores.data(), extent(scores), single, out.data());
      },
      "scores"_a.noconvert(), "single"_a, "out"_a.noconvert(), Unlocked());
}

}  // namespace certus
