#include "bindings/arrays.hpp"
#include "chain/marginals/max_marginals.hpp"
#include "relax/mixture.hpp"
#include "relax/spanning_tree.hpp"

using namespace nb::literals;

namespace certus {

void bind_relax(nb::module_& m) {
  m.def(
      "max_marginals",
      [](const Model<double>& model, const Matrix<double>& emissions, Table<double> out) {
        const nb::gil_scoped_release released;
        max_marginals(model, sentence<double>(emissions), out.data());
      },
      "model"_a, "emissions"_a.noconvert(), "out"_a.noconvert());
  m.def(
      "spanning_tree",
      [](Table<const double> scores, bool single, Flat<Index> heads) {
        const nb::gil_scoped_release released;
        return relax::spanning_tree(scores.data(), extent(scores), single, heads.data());
      },
      "scores"_a.noconvert(), "single"_a, "heads"_a.noconvert());
  m.def(
      "tree_max_marginals",
      [](Table<const double> scores, bool single, Table<double> out) {
        const nb::gil_scoped_release released;
        relax::tree_max_marginals(scores.data(), extent(scores), single, out.data());
      },
      "scores"_a.noconvert(), "single"_a, "out"_a.noconvert());
  m.def(
      "mix",
      [](Table<const double> gram, Flat<const double> gain, Flat<const Index> block, Index blocks, double enough,
         Index most_moves, Flat<double> a) {
        const nb::gil_scoped_release released;
        return relax::mix(gram.data(), gain.data(), block.data(), extent(gain), blocks, enough, most_moves, a.data());
      },
      "gram"_a.noconvert(), "gain"_a.noconvert(), "block"_a.noconvert(), "blocks"_a, "enough"_a, "most_moves"_a,
      "a"_a.noconvert());
}

}  // namespace certus
