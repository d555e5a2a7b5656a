// Lattices of tags that are decoded again and again: adjustments in, labels and scores out.
#include "lattice/lattices.hpp"

#include <nanobind/stl/optional.h>

#include "base/parallel.hpp"
#include "bindings/relax_part.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"
#include "relax/parts/lattice.hpp"
#include "scoring/tagger.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace lattice;
using scoring::Tagger;

// `margins`: one for each sentence. Without them, lattices have the best sequence, and what they lack is bounded as low
// as may be.
StoredLattices* search_all(const Tagger& tagger, nb::handle sentences, float pruning, Index threads, bool bounded,
                           const std::optional<Flat<const double>>& margins) {
  if (tagger.has_chain() || !tagger.is_ready()) refuse("the tagger has no cascade: call use_cascade");
  const Texts texts(sentences, tagger.extractor().columns());
  if (margins && extent(*margins) != texts.size()) refuse("there must be a margin for each sentence");
  auto lattices = std::make_unique<StoredLattices>(texts.starts(), tagger.tagset().labels);
  const nb::gil_scoped_release released;
  tagger.run_parallel(texts.size(), threads, [&](Index n, Tagger::Workspace& workspace) {
    if (texts.at(n).length == 0) return;
    double outside = kNever<double>;
    const scoring::LatticeRequest request{pruning, bounded, margins ? margins->data()[n] : 0, !margins};
    const Lattice& lattice = tagger.search_lattice(texts.at(n), request, outside, workspace);
    lattices->keep(n, lattice, outside);
  });
  return lattices.release();
}

using AddedScores = Table<const double>;

Adjustments adjustments(const Lattices& self, const Flat<const Index>& tokens, const AddedScores& rows) {
  if (rows.shape(0) != tokens.shape(0) || extent(rows, 1) != self.labels())
    refuse("adjust must have a row for each of the tokens and a column for each label");
  return {tokens.data(), rows.data(), extent(tokens)};
}

void decode_lattices(const Lattices& self, Flat<const Index> which, Flat<const Index> tokens, AddedScores rows,
                     Flat<Label> labels, Flat<double> scores, Index threads) {
  const Adjustments adjust = adjustments(self, tokens, rows);
  const Index count = extent(which);
  std::vector<Index> place{0};
  for (Index i = 0; i < count; ++i) place.push_back(place[i] + self.length(which.data()[i]));
  const nb::gil_scoped_release released;
  std::vector<Lattices::Scratch> scratch(std::max<Index>(1, std::min(threads, count)));
  parallel(count, static_cast<Index>(scratch.size()), [&](Index i, Index thread) {
    scores.data()[i] = self.decode(which.data()[i], adjust, labels.data() + place[i], scratch[thread]);
  });
}

void max_marginals(const Lattices& self, Index sentence, Flat<const Index> tokens, AddedScores rows,
                   Table<double> out) {
  const Adjustments adjust = adjustments(self, tokens, rows);
  const nb::gil_scoped_release released;
  Lattices::Scratch scratch;
  self.find_max_marginals(sentence, adjust, out.data(), scratch);
}

// A part whose structures are read as (labels, score).
RelaxPart make_lattice_part(const Lattices& self, Index sentence, Flat<const double> base, Flat<const Index> cells) {
  return {std::make_shared<relax::LatticePart>(self, sentence, copy(base), copy(cells)),
          [](const std::shared_ptr<void>& kept) {
            const auto& found = *static_cast<const relax::FoundLabels*>(kept.get());
            return nb::object(nb::make_tuple(array(std::vector<Label>(found.labels)), found.score));
          }};
}

std::vector<double> list_outside(const Lattices& self) {
  std::vector<double> outside;
  for (Index n = 0; n < self.sentences(); ++n) outside.push_back(self.outside(n));
  return outside;
}

// Tells for which of the sentences `which` of `self` it took over the lattice of `others`, and leaves these useless.
auto take_better(StoredLattices& self, Flat<const Index> which, StoredLattices& others) {
  if (extent(which) != others.sentences()) refuse("there must be a lattice for each of the sentences");
  std::vector<std::uint8_t> taken;
  for (Index m = 0; m < others.sentences(); ++m) {
    const Index n = which.data()[m];
    if (n < 0 || n >= self.sentences() || self.length(n) != others.length(m))
      refuse("the lattices must be of the same sentences");
    taken.push_back(self.take_better(n, others, m));
  }
  return array(std::move(taken));
}

void make_chain(ChainLattices* self, const Model<double>& chain, Flat<const Index> first,
                Table<const float> emissions) {
  if (chain.only_sparse() || chain.positions() != 0)
    refuse("the chain must have one matrix of transitions for all positions");
  new (self) ChainLattices(copy(first), chain, emissions.data());
}

}  // namespace

void bind_lattices(nb::module_& m) {
  using Copy = LatticeOf<double>;
  nb::class_<Copy> lattice(m, "Lattice");
  define_arrays(lattice, "begin", &Copy::begin, "label", &Copy::label, "node", &Copy::node, "first_source", &Copy::from,
                "edge_begin", &Copy::edge_begin, "edge", &Copy::edge);
  nb::class_<Lattices>(m, "Lattices")
      .def("decode", &decode_lattices, "which"_a, "tokens"_a, "adjust"_a, "labels"_a, "scores"_a, "threads"_a)
      .def("max_marginals", &max_marginals, "sentence"_a, "tokens"_a, "adjust"_a, "out"_a)
      .def("make_part", &make_lattice_part, "sentence"_a, "base"_a.noconvert(), "cells"_a.noconvert(),
           nb::keep_alive<0, 1>())
      .def("lattice", &Lattices::copy, "sentence"_a)
      .def_prop_ro(
          "first", [](const Lattices& self) { return array(std::vector<Index>(self.first())); },
          nb::rv_policy::automatic)
      .def_prop_ro("outside", [](const Lattices& self) { return array(list_outside(self)); }, nb::rv_policy::automatic);
  nb::class_<StoredLattices, Lattices>(m, "StoredLattices")
      .def_prop_ro("bytes", &StoredLattices::bytes)
      .def("take_better", &take_better, "which"_a, "others"_a, nb::rv_policy::automatic);
  nb::class_<ChainLattices, Lattices>(m, "ChainLattices")
      .def("__init__", &make_chain, "chain"_a, "first"_a, "emissions"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 4>());
  m.def("search_all", &search_all, "tagger"_a, "sentences"_a, "pruning"_a, "threads"_a, "bounded"_a = false,
        "margins"_a = nb::none(), nb::rv_policy::take_ownership);
}

}  // namespace certus
