// Refinement HMMs: forward-backward in operator form, the E step, and products with indicator features.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "latent/refinement/operators.hpp"
#include "latent/refinement/paths.hpp"
#include "learn/refinement/expectations.hpp"
#include "learn/refinement/indicators.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace latent::refinement;
using namespace learn::refinement;
using Block = Array<const double, nb::ndim<3>, nb::c_contig>;
using Pairs = Array<const double, nb::ndim<4>, nb::c_contig>;

using Gain = std::optional<Table<const double>>;

Operators make_operators(const Flat<const Index>& begin, const Flat<const double>& start, const Block& matrices,
                         const Flat<const Index>& matrix, const Gain& gain, const Table<const double>& finish) {
  return {extent(start),
          extent(begin) - 1,
          begin.data(),
          start.data(),
          matrices.data(),
          matrix.data(),
          gain ? gain->data() : nullptr,
          finish.data()};
}

void bind_operators(nb::module_& m) {
  m.def(
      "refinement_marginals",
      [](Flat<const Index> begin, Flat<const double> start, Block matrices, Flat<const Index> matrix, const Gain& gain,
         Table<const double> finish, Flat<const Index> observations, Flat<const Index> offsets, Index threads,
         Table<double> out, Flat<double> log_size, Flat<double> sign, Flat<double> drift) {
        const Operators model = make_operators(begin, start, matrices, matrix, gain, finish);
        const nb::gil_scoped_release released;
        marginals(model, observations.data(), offsets.data(), extent(offsets) - 1, threads, out.data(),
                  {log_size.data(), sign.data(), drift.data()});
      },
      "begin"_a, "start"_a, "matrices"_a, "matrix"_a, "gain"_a.none(), "finish"_a, "observations"_a, "offsets"_a,
      "threads"_a, "out"_a.noconvert(), "log_size"_a.noconvert(), "sign"_a.noconvert(), "drift"_a.noconvert());
  m.def(
      "refinement_path_masses",
      [](Flat<const Index> begin, Flat<const double> start, Block matrices, Flat<const Index> matrix, const Gain& gain,
         Table<const double> finish, Flat<const Index> observations, Flat<const Index> labels,
         Flat<const Index> offsets, Index threads, Flat<double> log_size, Flat<double> sign) {
        const Operators model = make_operators(begin, start, matrices, matrix, gain, finish);
        const nb::gil_scoped_release released;
        path_masses(model, observations.data(), labels.data(), offsets.data(), extent(offsets) - 1, threads,
                    log_size.data(), sign.data());
      },
      "begin"_a, "start"_a, "matrices"_a, "matrix"_a, "gain"_a.none(), "finish"_a, "observations"_a, "labels"_a,
      "offsets"_a, "threads"_a, "log_size"_a.noconvert(), "sign"_a.noconvert());
}

void bind_expectations(nb::module_& m) {
  m.def(
      "refinement_expectations",
      [](Table<const double> initial, Pairs transition, Pairs turned, Block emission, Table<const double> stop,
         Flat<const Index> labels, Flat<const Index> observations, Flat<const Index> offsets,
         Flat<const double> weights, Index threads, Flat<double> log_likelihood, Table<double> posterior,
         Array<double, nb::ndim<4>, nb::c_contig> pairs) {
        const Parameters model{extent(initial),   extent(initial, 1), extent(emission, 1), initial.data(),
                               transition.data(), turned.data(),      emission.data(),     stop.data()};
        const Sequences data{labels.data(), observations.data(), offsets.data(), weights.data(), extent(offsets) - 1};
        const nb::gil_scoped_release released;
        expectations(model, data, threads, log_likelihood.data(), posterior.data(), pairs.data());
      },
      "initial"_a, "transition"_a, "turned"_a, "emission"_a, "stop"_a, "labels"_a, "observations"_a, "offsets"_a,
      "weights"_a, "threads"_a, "log_likelihood"_a.noconvert(), "posterior"_a.noconvert(), "pairs"_a.noconvert());
}

void bind_indicators(nb::module_& m) {
  m.def(
      "indicator_times",
      [](Table<const std::int32_t> ids, Table<const double> table, Table<double> to) {
        const nb::gil_scoped_release released;
        indicator_times({ids.data(), extent(ids), extent(ids, 1)}, table.data(), extent(table, 1), to.data());
      },
      "ids"_a, "table"_a, "to"_a.noconvert());
  m.def(
      "indicator_transposed_times",
      [](Table<const std::int32_t> ids, Flat<const double> weight, Table<const double> from, Table<double> to) {
        const nb::gil_scoped_release released;
        indicator_transposed_times({ids.data(), extent(ids), extent(ids, 1)}, weight.data(), from.data(),
                                   extent(from, 1), to.data(), extent(to));
      },
      "ids"_a, "weight"_a, "rows"_a, "to"_a.noconvert());
}

}  // namespace

void bind_refinement(nb::module_& m) {
  bind_operators(m);
  bind_expectations(m);
  bind_indicators(m);
}

}  // namespace certus
