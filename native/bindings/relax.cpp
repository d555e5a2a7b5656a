#include "bindings/arrays.hpp"
#include "chain/marginals/max_marginals.hpp"
#include "relax/mixture.hpp"
#include "relax/spanning_tree.hpp"

using namespace nb::literals;

namespace certus {

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
  m.def(
      "mix",
      [](const Table<const double>& gram, const Flat<const double>& gain, const Flat<const Index>& block, Index blocks,
         double enough, Index most_moves, const Flat<double>& a) {
        return relax::mix(gram.data(), gain.data(), block.data(), extent(gain), blocks, enough, most_moves, a.data());
      },
      "gram"_a.noconvert(), "gain"_a.noconvert(), "block"_a.noconvert(), "blocks"_a, "enough"_a, "most_moves"_a,
      "a"_a.noconvert(), Unlocked());
}

}  // namespace certus
