#include "chain/marginals/marginals.hpp"

#include "bindings/sentence.hpp"

using namespace nb::literals;

namespace certus {
namespace {

template <class S>
void bind_sums(nb::module_& m) {
  m.def(
      "marginals",
      [](const Model<S>& model, const Matrix<S>& emissions, const Table<double>& out) {
        return marginals(model, sentence<S>(emissions), out.data());
      },
      "model"_a, "emissions"_a.noconvert(), "out"_a.noconvert(), Unlocked());
  m.def(
      "sample",
      [](const Model<S>& model, const Matrix<S>& emissions, const Table<const double>& uniforms,
         const Table<Index>& out) {
        return sample(model, sentence<S>(emissions), uniforms.data(), extent(out), out.data());
      },
      "model"_a, "emissions"_a.noconvert(), "uniforms"_a.noconvert(), "out"_a.noconvert(), Unlocked());
  m.def(
      "path_scores",
      [](const Model<S>& model, const Matrix<S>& emissions, const Table<const Index>& labels, const Flat<double>& out) {
        path_scores(model, sentence<S>(emissions), labels.data(), extent(labels), out.data());
      },
      "model"_a, "emissions"_a.noconvert(), "labels"_a.noconvert(), "out"_a.noconvert(), Unlocked());
}

}  // namespace

void bind_marginals(nb::module_& m) {
  define_fields(nb::class_<Summary>(m, "Summary"), "status", &Summary::status, "position", &Summary::position, "label",
                &Summary::label, "log_partition", &Summary::log_partition);
  bind_sums<float>(m);
  bind_sums<double>(m);
}

}  // namespace certus
