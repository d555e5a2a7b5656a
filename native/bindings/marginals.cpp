#include "chain/marginals/marginals.hpp"

#include "bindings/arrays.hpp"

using namespace nb::literals;

namespace certus {
namespace {

template <class S>
void bind(nb::module_& m) {
  m.def(
      "marginals",
      [](const Model<S>& model, const Matrix<S>& emissions, Table<double> out) {
        Summary summary;
        {
          const nb::gil_scoped_release released;
          summary = marginals(model, sentence<S>(emissions), out.data());
        }
        return nb::make_tuple(static_cast<int>(summary.status), summary.position, summary.label, summary.log_partition);
      },
      "model"_a, "emissions"_a.noconvert(), "out"_a.noconvert());
  m.def(
      "sample",
      [](const Model<S>& model, const Matrix<S>& emissions, Table<const double> uniforms, Table<Index> out) {
        Summary summary;
        {
          const nb::gil_scoped_release released;
          summary =
              sample(model, sentence<S>(emissions), uniforms.data(), static_cast<Index>(out.shape(0)), out.data());
        }
        return nb::make_tuple(static_cast<int>(summary.status), summary.position, summary.label);
      },
      "model"_a, "emissions"_a.noconvert(), "uniforms"_a.noconvert(), "out"_a.noconvert());
  m.def(
      "path_scores",
      [](const Model<S>& model, const Matrix<S>& emissions, Table<const Index> labels, Flat<double> out) {
        const nb::gil_scoped_release released;
        path_scores(model, sentence<S>(emissions), labels.data(), static_cast<Index>(labels.shape(0)), out.data());
      },
      "model"_a, "emissions"_a.noconvert(), "labels"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_marginals(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace certus
