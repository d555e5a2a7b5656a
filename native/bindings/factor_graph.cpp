// Factor graphs: the parts that they are made of, and the search.
#include <nanobind/stl/vector.h>

#include "bindings/vectors.hpp"
#include "relax/parts/logic.hpp"
#include "relax/parts/table.hpp"
#include "relax/search.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace relax;
using Flags = Flat<const std::uint8_t>;

// What a search found. `on`: [cells] of the best answer, empty while none is known.
struct SearchAnswer {
  double score, bound;
  SearchEnd end;
  Index nodes, fixed;
  std::vector<std::int8_t> on;
  SearchTrace trace;
};

// Shapes and ranges are checked in Python before anything comes here.
class Factors {
 public:
  Factors() = default;
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;

  void add_table(const std::vector<Index>& shape, Flags single, Flat<const double> table, Flat<const double> scores,
                 const std::vector<Index>& cells) {
    problem_.add(std::make_unique<TablePart>(shape, copy(single), copy(table), copy(scores)), cells);
  }
  void add_count(Flat<const double> scores, Flags negated, Index least, Index most, const std::vector<Index>& cells) {
    problem_.add(std::make_unique<CountPart>(copy(scores), copy(negated), least, most), cells);
  }
  void add_or_output(Flat<const double> scores, Flags negated, const std::vector<Index>& cells) {
    problem_.add(std::make_unique<OrOutputPart>(copy(scores), copy(negated)), cells);
  }
  void add_knapsack(Flat<const double> scores, Flags negated, const std::vector<Index>& weights, Index capacity,
                    const std::vector<Index>& cells) {
    problem_.add(std::make_unique<KnapsackPart>(copy(scores), copy(negated), weights, capacity), cells);
  }

  SearchAnswer search(Index cells, double seconds, Index nodes, double tolerance) {
    const nb::gil_scoped_release released;
    problem_.link(cells);
    Search search(problem_, {seconds, nodes, tolerance});
    const SearchEnd end = search.run();
    return {search.score(), search.bound(), end, search.nodes(), search.fixed(), search.on(), search.trace()};
  }

 private:
  Problem problem_;
};

}  // namespace

void bind_factor_graph(nb::module_& m) {
  nb::enum_<SearchEnd>(m, "SearchEnd")
      .value("PROVEN", SearchEnd::proven)
      .value("SECONDS", SearchEnd::seconds)
      .value("NODES", SearchEnd::nodes);
  nb::class_<SearchTrace> trace(m, "SearchTrace");
  define_arrays(trace, "seconds", &SearchTrace::seconds, "bound", &SearchTrace::bound, "score", &SearchTrace::score,
                "nodes", &SearchTrace::nodes);
  nb::class_<SearchAnswer> answer(m, "SearchAnswer");
  define_fields(answer, "score", &SearchAnswer::score, "bound", &SearchAnswer::bound, "end", &SearchAnswer::end,
                "nodes", &SearchAnswer::nodes, "fixed", &SearchAnswer::fixed, "trace", &SearchAnswer::trace);
  define_arrays(answer, "on", &SearchAnswer::on);
  nb::class_<Factors>(m, "Factors")
      .def(nb::init<>())
      .def("add_table", &Factors::add_table, "shape"_a, "single"_a, "table"_a, "scores"_a, "cells"_a)
      .def("add_count", &Factors::add_count, "scores"_a, "negated"_a, "least"_a, "most"_a, "cells"_a)
      .def("add_or_output", &Factors::add_or_output, "scores"_a, "negated"_a, "cells"_a)
      .def("add_knapsack", &Factors::add_knapsack, "scores"_a, "negated"_a, "weights"_a, "capacity"_a, "cells"_a)
      .def("search", &Factors::search, "cells"_a, "seconds"_a, "nodes"_a, "tolerance"_a);
}

}  // namespace certus
