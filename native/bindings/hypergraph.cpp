// Packed forests. What is asked of one comes with scores in the user's order; answers are in it, too.
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>

#include "base/simd.hpp"
#include "bindings/relax_part.hpp"
#include "bindings/vectors.hpp"
#include "hypergraph/astar.hpp"
#include "hypergraph/branching.hpp"
#include "hypergraph/cells.hpp"
#include "hypergraph/derivation.hpp"
#include "hypergraph/kbest.hpp"
#include "hypergraph/optimal_beam.hpp"
#include "hypergraph/passes.hpp"
#include "hypergraph/tightening.hpp"
#include "relax/parts/forest.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace hypergraph;

// How a question was answered. The scores are at fault in the next three: one is NaN or +inf, a sum is beyond the range
// of doubles, a derivation has too many edges to be written down. The last: what was asked for is not to be held.
enum class Outcome { fine, infeasible, invalid, overflow, too_large, too_many };

struct Answer {
  Outcome outcome = Outcome::fine;
  Index where = -1;               // the place of an invalid score
  double value = kNever<double>;  // of the goal
};
struct BestDerivation : Answer {
  std::vector<Index> edges;  // in preorder
  Index twice = -1;          // of a part: a cell that the derivation uses twice
};
inline constexpr std::size_t kMostNumbers = std::size_t{1} << 29;  // 4 GiB
struct DerivationList : Answer {
  std::vector<Index> edges, offsets{0};  // derivation i has the edges [offsets[i], offsets[i + 1])
  std::vector<double> scores;            // of derivations in their order; none where they are drawn

  void add(const Forest& f, const std::vector<Edge>& derivation) {
    const std::vector<Index> given = given_edges(f, derivation);
    edges.insert(edges.end(), given.begin(), given.end());
    offsets.push_back(static_cast<Index>(edges.size()));
  }
  bool is_full() const { return edges.size() + 4 * offsets.size() > kMostNumbers; }
};

Outcome judge(const Forest& f, const double* weights, double top) {
  if (std::isfinite(top)) return Outcome::fine;
  return feasible(f, weights) ? Outcome::overflow : Outcome::infeasible;
}

// From our order to the user's, whose numbers `ids` are.
template <class X>
void to_given(const std::vector<std::int32_t>& ids, Index count, const X* ours, X* given) {
  for (Index n = 0; n < count; ++n) given[ids[n]] = ours[n];
}

// The user's scores, in either precision.
using Scores = Array<nb::ro, nb::ndim<1>, nb::c_contig>;

// Calls use(numbers) with those of an array.
template <class Use>
auto read(const Scores& scores, const Use& use) {
  if (scores.dtype() == nb::dtype<float>()) return use(static_cast<const float*>(scores.data()));
  if (scores.dtype() != nb::dtype<double>()) throw nb::type_error("scores must be of float32 or float64");
  return use(static_cast<const double*>(scores.data()));
}
Weights weigh(const Forest& f, const Scores& scores, Arena& arena) {
  return read(scores, [&](const auto* numbers) { return Weights(f, numbers, arena); });
}

// Scores in the forest's order, the inside values they give, and what is to be said about them.
struct Pass {
  LocalArena arena;
  const double* weights = nullptr;
  double* in = nullptr;
  Answer answer{Outcome::invalid};

  template <class Inside>
  Pass(const Forest& f, const Scores& scores, const Inside& inside) {
    const Weights given = weigh(f, scores, arena);
    answer.where = given.invalid();
    if (answer.where < 0) run(f, given.data(), inside, given.is_huge());
  }
  // Of edges with adjustments of their cells.
  Pass(const Cells& cells, const double* adjust) {
    answer.where = first_invalid(adjust, cells.cell_count());
    if (answer.where >= 0) return;
    double* adjusted = arena.get<double>(cells.forest().edges);
    cells.adjust(adjust, adjusted);
    run(cells.forest(), adjusted, max_inside, cells.is_huge());
    if (is_huge(adjust, cells.cell_count())) answer.outcome = Outcome::overflow;
  }

 private:
  template <class Inside>
  void run(const Forest& f, const double* own, const Inside& inside, bool huge) {
    weights = own;
    in = arena.get<double>(f.nodes);
    inside(f, weights, in);
    answer.value = in[f.goal()];
    answer.outcome = judge(f, weights, answer.value);
    if (huge && overflows(f, weights)) answer.outcome = Outcome::overflow;
  }
};

// Writes the best derivation under the weights of a pass; its value is what it scores by `scores`.
BestDerivation find_best(const Forest& f, const Pass& pass, const double* scores, std::vector<Edge>& edges) {
  BestDerivation out{pass.answer, {}};
  if (out.outcome != Outcome::fine) return out;
  if (!best_derivation(f, pass.weights, pass.in, edges)) return {{Outcome::too_large}, {}};
  out.value = score(scores, edges);
  out.edges = given_edges(f, edges);
  return out;
}

BestDerivation viterbi(const Forest& f, Scores scores) {
  const nb::gil_scoped_release released;
  const Pass pass(f, scores, max_inside);
  std::vector<Edge> edges;
  return find_best(f, pass, pass.weights, edges);
}

// Inside and, where `out` is wanted, outside values of the nodes. Also right where the goal has no derivation.
Answer sums(const Forest& f, Scores scores, Flat<double> in, Flat<double> out, bool logarithmic, bool outside) {
  const nb::gil_scoped_release released;
  const Pass pass(f, scores, logarithmic ? log_inside : max_inside);
  if (pass.answer.outcome == Outcome::invalid) return pass.answer;
  to_given(f.node_id, f.given_nodes, pass.in, in.data());
  if (!outside) return pass.answer;
  double* ours = pass.arena.get<double>(f.nodes);
  (logarithmic ? log_outside : max_outside)(f, pass.weights, pass.in, ours);
  to_given(f.node_id, f.given_nodes, ours, out.data());
  return pass.answer;
}

// The inside value of the goal; find(pass, edges, nodes) writes what is asked of edges and nodes in the forest's order.
template <class Inside, class Find>
Answer fill_marginals(const Forest& f, const Scores& scores, const Inside& inside, double* edges, double* nodes,
                      const Find& find) {
  const nb::gil_scoped_release released;
  const Pass pass(f, scores, inside);
  if (pass.answer.outcome != Outcome::fine) return pass.answer;
  double* at_nodes = pass.arena.get<double>(f.nodes);
  double* at_edges = f.in_order ? edges : pass.arena.get<double>(f.edges);
  find(pass, at_edges, at_nodes);
  if (!f.in_order) to_given(f.edge_id, f.given_edges, at_edges, edges);
  to_given(f.node_id, f.given_nodes, at_nodes, nodes);
  return pass.answer;
}

Answer maxima(const Forest& f, Scores scores, Flat<double> edges, Flat<double> nodes) {
  const auto find = [&](const Pass& pass, double* at_edges, double* out) {
    max_outside(f, pass.weights, pass.in, out);
    max_marginals(f, pass.weights, pass.in, out, at_edges);
    for (Index v = 0; v < f.nodes; ++v) out[v] = out[v] == kNever<double> ? out[v] : out[v] + pass.in[v];
  };
  return fill_marginals(f, scores, max_inside, edges.data(), nodes.data(), find);
}

Answer expectations(const Forest& f, Scores scores, Flat<double> edges, Flat<double> nodes) {
  const auto find = [&](const Pass& pass, double* at_edges, double* at_nodes) {
    marginals(f, pass.weights, pass.in, at_edges, at_nodes);
  };
  return fill_marginals(f, scores, log_inside, edges.data(), nodes.data(), find);
}

// Something about scores that were checked before.
template <class Ask>
auto ask(const Forest& f, const Scores& scores, const Ask& question) {
  const nb::gil_scoped_release released;
  const LocalArena arena;
  return question(f, weigh(f, scores, arena).data());
}

nb::object useful_edges(const Forest& f, Scores scores) {
  std::vector<std::uint8_t> given(static_cast<std::size_t>(f.given_edges));
  const std::vector<std::uint8_t> ours = ask(f, scores, useful);
  to_given(f.edge_id, f.given_edges, ours.data(), given.data());
  return nb::cast(array(std::move(given)));
}

DerivationList sample(const Forest& f, Scores scores, Index n, std::uint64_t seed) {
  const nb::gil_scoped_release released;
  const Pass pass(f, scores, log_inside);
  DerivationList out{pass.answer, {}, {0}, {}};
  std::mt19937_64 random(seed);
  std::vector<Edge> edges;
  std::vector<Node> stack;
  Heed heed;
  for (Index i = 0; i < n && out.outcome == Outcome::fine; ++i) {
    heed(64 * static_cast<Index>(edges.size()) + 64);
    if (!sample_derivation(f, pass.weights, pass.in, edges, stack, random)) out.outcome = Outcome::too_large;
    out.add(f, edges);
    if (out.is_full()) out.outcome = Outcome::too_many;
  }
  return out;
}

// Every byte that a pass over the forest has to read, read once: the time no pass can beat.
std::uint64_t stream(const Forest& f, Scores scores) {
  const nb::gil_scoped_release released;
  std::uint64_t sum = 0;
  const auto add = [&](const void* data, std::size_t bytes) {
    const auto* words = static_cast<const std::uint64_t*>(data);
    for (std::size_t i = 0; i < bytes / 8; ++i) sum += words[i];
  };
  add(f.begin.data(), f.begin.size() * sizeof(Edge));
  add(f.tail_begin.data(), f.tail_begin.size() * sizeof(Edge));
  add(f.tail.data(), f.tail.size() * sizeof(Node));
  add(scores.data(), scores.nbytes());
  return sum;
}

// The first score that is NaN or +inf, or -1.
Index bad_score(Scores scores) {
  const nb::gil_scoped_release released;
  return read(scores, [&](const auto* numbers) { return first_invalid(numbers, extent(scores)); });
}

void bind_scored(nb::class_<Forest>& c) {
  const auto scores = "scores"_a.noconvert();
  c.def("viterbi", &viterbi, scores)
      .def("sums", &sums, scores, "into"_a.noconvert(), "outer"_a.noconvert(), "logarithmic"_a, "outside"_a)
      .def("max_marginals", &maxima, scores, "edges"_a.noconvert(), "nodes"_a.noconvert())
      .def("marginals", &expectations, scores, "edges"_a.noconvert(), "nodes"_a.noconvert())
      .def("useful", &useful_edges, scores)
      .def("sample", &sample, scores, "n"_a, "seed"_a)
      .def("stream", &stream, scores)
      .def(
          "count",
          [](const Forest& f, Scores x, std::uint64_t modulus) {
            return ask(f, x, [&](const Forest& g, const double* w) { return hypergraph::count(g, w, modulus); });
          },
          scores, "modulus"_a)
      .def(
          "missing", [](const Forest& f, Scores x) { return f.node_id[ask(f, x, hypergraph::missing)]; }, scores)
      .def("rounding", [](const Forest& f, Scores x) { return ask(f, x, hypergraph::rounding); }, scores);
}

// -- derivations one at a time ------------------------------------------------------------------------------------

struct Derivations {
  const Forest& forest;
  Outcome outcome = Outcome::invalid;
  Index where = -1;
  std::unique_ptr<KBest> search;

  Derivations(const Forest& f, const Scores& scores) : forest(f) {
    const LocalArena arena;
    const Weights weights = weigh(f, scores, arena);
    where = weights.invalid();
    if (where >= 0) return;
    search = std::make_unique<KBest>(f, weights.data());
    outcome = judge(f, weights.data(), search->best());
    if (weights.is_huge() && overflows(f, weights.data())) outcome = Outcome::overflow;
  }

  // Up to n derivations.
  DerivationList next(Index n) {
    const nb::gil_scoped_release released;
    DerivationList out;
    std::vector<Edge> edges;
    double value = 0;
    Heed heed;
    for (Index i = 0; i < n && !out.is_full() && search->next(edges, &value); ++i) {
      heed(64 + 4 * static_cast<Index>(edges.size()));
      out.add(forest, edges);
      out.scores.push_back(score(search->weights(), edges));
    }
    if (out.is_full()) out.outcome = Outcome::too_many;
    if (search->too_large()) out.outcome = Outcome::too_large;
    return out;
  }
};

// -- constraints --------------------------------------------------------------------------------------------------

enum class Method { automatic, branching, beam, optimal_beam, staged_beam, lagrangian, tightening, astar };

struct Constraints {  // as they come
  Flat<const Index> begin, edges;
  Flat<const double> coefficients, targets;

  Rows read(const Forest& f) const {
    return {extent(targets), copy(begin), f.find_edges(edges.data(), extent(edges)), copy(coefficients), copy(targets)};
  }
};

// `size` is how wide the first beam is, or how many states are taken before a problem is split.
std::unique_ptr<ConstrainedSearch> start(const Forest& f, Scores scores, Flat<const Index> begin,
                                         Flat<const Index> edges, Flat<const double> coefficients,
                                         Flat<const double> targets, Method method, Index size) {
  const nb::gil_scoped_release released;
  const LocalArena arena;
  const Weights weights = weigh(f, scores, arena);
  Rows rows = Constraints{begin, edges, coefficients, targets}.read(f);
  const auto beam = [&](Plan plan) {
    return std::make_unique<BeamSearch>(f, weights.data(), std::move(rows), plan, size, 0);
  };
  switch (method) {
    case Method::automatic: return beam(Plan::automatic);
    case Method::beam: return beam(Plan::once);
    case Method::optimal_beam: return beam(Plan::alternating);
    case Method::staged_beam: return beam(Plan::staged);
    case Method::lagrangian: return std::make_unique<LagrangianSearch>(f, weights.data(), std::move(rows), false);
    case Method::tightening: return std::make_unique<LagrangianSearch>(f, weights.data(), std::move(rows), true);
    case Method::astar: return std::make_unique<AstarSearch>(f, weights.data(), std::move(rows));
    case Method::branching: break;
  }
  return std::make_unique<BranchAndBound>(f, weights.data(), std::move(rows), size);
}

void bind_constrained(nb::module_& m) {
  nb::enum_<Method>(m, "ForestMethod")
      .value("AUTOMATIC", Method::automatic)
      .value("BRANCHING", Method::branching)
      .value("BEAM", Method::beam)
      .value("OPTIMAL_BEAM", Method::optimal_beam)
      .value("STAGED_BEAM", Method::staged_beam)
      .value("LAGRANGIAN", Method::lagrangian)
      .value("TIGHTENING", Method::tightening)
      .value("ASTAR", Method::astar);
  constexpr auto copied = nb::rv_policy::automatic;
  nb::class_<ConstrainedSearch> search(m, "ForestSearch");
  search
      .def(
          "run", [](ConstrainedSearch& c, Index units, double seconds) { return c.run(units, seconds); }, "units"_a,
          "seconds"_a = std::numeric_limits<double>::infinity(), Unlocked())
      .def_prop_ro("found", &ConstrainedSearch::found)
      .def_prop_ro("score", &ConstrainedSearch::score)
      .def_prop_ro("bound", &ConstrainedSearch::bound)
      .def_prop_ro(
          "edges", [](const ConstrainedSearch& c) { return array(given_edges(c.forest(), c.derivation())); }, copied)
      .def_prop_ro("too_large", &ConstrainedSearch::too_large)
      .def_prop_ro("iterations", [](const ConstrainedSearch& c) { return c.dual.size(); })
      .def_prop_ro(
          "dual", [](const ConstrainedSearch& c) { return array(std::vector(c.dual)); }, copied)
      .def_prop_ro("primal", [](const ConstrainedSearch& c) { return array(std::vector(c.primal)); }, copied);
  define_fields(search, "subproblems", &ConstrainedSearch::subproblems, "states", &ConstrainedSearch::states, "fixed",
                &ConstrainedSearch::fixed);
  nb::class_<BeamSearch, ConstrainedSearch>(m, "ForestKBestSearch")
      .def(
          "__init__",
          [](BeamSearch* self, const Forest& f, Scores scores, Flat<const Index> begin, Flat<const Index> edges,
             Flat<const double> coefficients, Flat<const double> targets, Index size, Index k) {
            const nb::gil_scoped_release released;
            const LocalArena arena;
            const Weights weights = weigh(f, scores, arena);
            new (self) BeamSearch(f, weights.data(), Constraints{begin, edges, coefficients, targets}.read(f),
                                  Plan::alternating, size, k);
          },
          "forest"_a, "scores"_a.noconvert(), "begin"_a, "edges"_a, "coefficients"_a, "targets"_a, "size"_a, "k"_a,
          nb::keep_alive<1, 2>())
      .def_prop_ro("rest", &BeamSearch::rest)
      .def_prop_ro("list", [](const BeamSearch& c) {
        DerivationList list;
        for (const BeamSearch::Listed& one : c.list()) {
          list.add(c.forest(), one.edges);
          list.scores.push_back(one.score);
        }
        return list;
      });
  m.def("search_forest", &start, "forest"_a, "scores"_a.noconvert(), "begin"_a, "edges"_a, "coefficients"_a,
        "targets"_a, "method"_a, "size"_a, nb::keep_alive<0, 1>());
}

// -- parts --------------------------------------------------------------------------------------------------------

// The value is the score without adjustments.
BestDerivation maximize(const Cells& cells, Flat<const double> adjust, Flat<std::uint8_t> uses) {
  const nb::gil_scoped_release released;
  const Pass pass(cells, adjust.data());
  std::vector<Edge> edges;
  BestDerivation out = find_best(cells.forest(), pass, cells.weights(), edges);
  if (out.outcome == Outcome::fine) out.twice = cells.use(edges, uses.data());
  return out;
}

// A part whose structures are read as (edges in the user's numbering, score).
RelaxPart make_forest_part(const Cells& cells) {
  const Forest& f = cells.forest();
  return {std::make_shared<relax::ForestPart>(cells), [&f](const std::shared_ptr<void>& kept) {
            const auto& found = *static_cast<const relax::FoundDerivation*>(kept.get());
            return nb::object(nb::make_tuple(array(given_edges(f, found.edges)), found.score));
          }};
}

Answer cell_maxima(const Cells& cells, Flat<const double> adjust, Flat<double> out) {
  const nb::gil_scoped_release released;
  const Pass pass(cells, adjust.data());
  if (pass.answer.outcome != Outcome::fine) return pass.answer;
  const Forest& f = cells.forest();
  double *outer = pass.arena.get<double>(f.nodes), *edges = pass.arena.get<double>(f.edges);
  max_outside(f, pass.weights, pass.in, outer);
  max_marginals(f, pass.weights, pass.in, outer, edges);
  cells.largest(edges, out.data());
  return pass.answer;
}

void bind_answers(nb::module_& m) {
  nb::enum_<Outcome>(m, "ForestOutcome")
      .value("FINE", Outcome::fine)
      .value("INFEASIBLE", Outcome::infeasible)
      .value("INVALID", Outcome::invalid)
      .value("OVERFLOW", Outcome::overflow)
      .value("TOO_LARGE", Outcome::too_large)
      .value("TOO_MANY", Outcome::too_many);
  define_fields(nb::class_<Answer>(m, "ForestAnswer"), "outcome", &Answer::outcome, "where", &Answer::where, "value",
                &Answer::value);
  nb::class_<BestDerivation, Answer> best(m, "ForestDerivation");
  best.def_ro("twice", &BestDerivation::twice);
  define_arrays(best, "edges", &BestDerivation::edges);
  define_arrays(nb::class_<DerivationList, Answer>(m, "ForestDerivationList"), "edges", &DerivationList::edges,
                "offsets", &DerivationList::offsets, "scores", &DerivationList::scores);
}

void bind_cells(nb::module_& m) {
  nb::class_<Cells>(m, "ForestCells")
      .def(
          "__init__",
          [](Cells* self, const Forest& f, Scores scores, Flat<const Index> edges, Flat<const Index> cells,
             Index cell_count) {
            const nb::gil_scoped_release released;
            const LocalArena arena;
            const Weights weights = weigh(f, scores, arena);
            new (self) Cells(f, weights.data(), edges.data(), cells.data(), extent(edges), cell_count);
          },
          "forest"_a, "scores"_a.noconvert(), "edges"_a, "cells"_a, "cell_count"_a, nb::keep_alive<1, 2>())
      .def_prop_ro("is_huge", &Cells::is_huge)
      .def("make_part", &make_forest_part, nb::keep_alive<0, 1>())
      .def(
          "use",
          [](const Cells& cells, Flat<const Index> edges, Flat<std::uint8_t> uses) {
            cells.use(cells.forest().find_edges(edges.data(), extent(edges)), uses.data());
          },
          "edges"_a.noconvert(), "uses"_a.noconvert())
      .def("maximize", &maximize, "adjust"_a.noconvert(), "uses"_a.noconvert())
      .def("max_marginals", &cell_maxima, "adjust"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_hypergraph(nb::module_& m) {
  bind_answers(m);
  nb::enum_<Fault>(m, "ForestFault")
      .value("NONE", Fault::none)
      .value("OFFSETS", Fault::offsets)
      .value("HEAD", Fault::head)
      .value("TAIL", Fault::tail)
      .value("GOAL", Fault::goal)
      .value("CYCLE", Fault::cycle);
  nb::class_<Forest> forest(m, "Forest");
  forest.def(
      "__init__",
      [](Forest* self, Index nodes, Flat<const Index> heads, Flat<const Index> offsets, Flat<const Index> tails,
         Flat<const Index> goals) {
        const nb::gil_scoped_release released;
        new (self) Forest(
            Given{nodes, extent(heads), heads.data(), offsets.data(), tails.data(), goals.data(), extent(goals)});
      },
      "nodes"_a, "heads"_a, "offsets"_a, "tails"_a, "goals"_a);
  define_fields(forest, "fault", &Forest::fault, "where", &Forest::where, "cycle", &Forest::cycle, "in_order",
                &Forest::in_order);
  m.attr("MOST_DERIVATION_EDGES") = kLargest;
  m.def("first_invalid", &bad_score, "scores"_a.noconvert());
  bind_scored(forest);

  nb::class_<Derivations>(m, "ForestDerivations")
      .def(nb::init<const Forest&, const Scores&>(), "forest"_a, "scores"_a.noconvert(), nb::keep_alive<1, 2>(),
           Unlocked())
      .def_ro("outcome", &Derivations::outcome)
      .def_ro("where", &Derivations::where)
      .def_prop_ro("expanded", [](const Derivations& d) { return d.search ? d.search->expanded() : 0; })
      .def("next", &Derivations::next, "n"_a);

  bind_constrained(m);
  bind_cells(m);
}

}  // namespace certus
