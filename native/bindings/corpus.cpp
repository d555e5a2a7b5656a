// Consistency across a corpus: lattices and consensus nodes in, labels, scores and bounds out.
#include <memory>

#include "bindings/vectors.hpp"
#include "corpus/field.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace corpus;

// A field and what of it is still open.
struct Problem {
  Field field;
  Region open, stuck;  // stuck: what branching could not finish

  Problem(Agreement agreement, Index nodes) : field(std::move(agreement), nodes) {}
};

void make(Problem* self, Flat<const Label> group, double same, double close, double null, Index nodes) {
  Agreement agreement{same, close, null, {group.data(), group.data() + group.shape(0)}};
  new (self) Problem(std::move(agreement), nodes);
}

// Sentences of the lattices, the first of which is number `sentence` and begins with token `token` of the corpus.
void add(Problem& self, const learn::Lattices& lattices, Index sentence, Index token, Flat<const Index> nodes,
         Flat<Label> labels, Flat<double> scores) {
  const nb::gil_scoped_release released;
  for (Index n = 0; n < lattices.sentences(); ++n) {
    const Index at = lattices.first()[n];
    scores.data()[n] =
        self.field.add(lattices, n, sentence + n, token + at, nodes.data() + at, labels.data() + at);
  }
}

nb::tuple votes(const Problem& self) {
  std::vector<Index> nodes;
  std::vector<Label> labels;
  for (const Vote& vote : self.field.votes()) nodes.push_back(vote.consensus), labels.push_back(vote.label);
  return nb::make_tuple(array(std::move(nodes)), array(std::move(labels)));
}

void close(Problem& self) {
  const nb::gil_scoped_release released;
  self.field.close();
  self.open = self.field.everything();
}

// Branches on each component of what is open; those that the limit leaves unfinished are kept apart.
Index branch(Problem& self, Index iterations, Index limit) {
  const nb::gil_scoped_release released;
  for (Region& part : self.field.components(self.open)) {
    Index left = limit;
    if (self.field.branch(part, iterations, left)) continue;
    self.stuck.blocks.insert(self.stuck.blocks.end(), part.blocks.begin(), part.blocks.end());
    self.stuck.nodes.insert(self.stuck.nodes.end(), part.nodes.begin(), part.nodes.end());
  }
  self.open = self.stuck;
  return static_cast<Index>(self.open.nodes.size());
}

double base(const Problem& self) {
  double sum = self.field.constant();
  for (const double x : self.field.blocks().base) sum -= x;
  return sum;
}

double bound(const Problem& self) {
  double sum = base(self);
  for (Index b = 0; b < self.field.blocks().size(); ++b) sum += self.field.bound_of(b);
  for (Index c = 0; c < self.field.nodes(); ++c) sum += self.field.highest(c);
  return sum;
}

// Writes the labels of all that blocks decide; returns the score over that of the sentences by themselves.
double labels(Problem& self, Flat<Label> out) {
  const nb::gil_scoped_release released;
  const Blocks& blocks = self.field.blocks();
  double sum = base(self);
  std::vector<Label> found;
  for (Index b = 0; b < blocks.size(); ++b) {
    found.resize(blocks.length(b));
    sum += self.field.labels(b, found.data());
    for (std::size_t p = 0; p < found.size(); ++p)
      if (found[p] != self.field.none()) out.data()[blocks.token[b] + static_cast<Index>(p)] = found[p];
  }
  for (Index c = 0; c < self.field.nodes(); ++c) sum += self.field.prior(c);
  return sum;
}

nb::tuple nodes(const Problem& self) {
  std::vector<Label> labels;
  std::vector<Index> words;
  std::vector<std::uint8_t> fixed;
  for (Index c = 0; c < self.field.nodes(); ++c) {
    labels.push_back(self.field.consensus(c));
    words.push_back(self.field.words(c));
    fixed.push_back(self.field.fixed(c));
  }
  return nb::make_tuple(array(std::move(labels)), array(std::move(words)), array(std::move(fixed)));
}

// Of each block its sentence, of each component of a region its blocks and nodes.
nb::tuple components(Problem& self) {
  std::vector<Index> blocks, nodes;
  for (const Region& part : self.field.components(self.open)) {
    blocks.push_back(static_cast<Index>(part.blocks.size()));
    nodes.push_back(static_cast<Index>(part.nodes.size()));
  }
  return nb::make_tuple(array(std::move(blocks)), array(std::move(nodes)));
}

auto open_sentences(const Problem& self) {
  std::vector<Index> sentences;
  for (const Index b : self.open.blocks) sentences.push_back(self.field.blocks().sentence[b]);
  return array(std::move(sentences));
}

}  // namespace

void bind_corpus(nb::module_& m) {
  nb::class_<Problem>(m, "Field")
      .def("__init__", &make, "group"_a, "same"_a, "close"_a, "null"_a, "nodes"_a)
      .def("observe",
           [](Problem& self, Flat<const Index> nodes, Flat<const Label> labels, Flat<const double> counts) {
             for (std::size_t i = 0; i < nodes.shape(0); ++i)
               self.field.observe(nodes.data()[i], labels.data()[i], counts.data()[i]);
           })
      .def("add", &add, "lattices"_a, "sentence"_a, "token"_a, "nodes"_a, "labels"_a, "scores"_a)
      .def("votes", &votes)
      .def("merge", [](Problem& self, Flat<const Index> into) { self.field.merge(into.data()); })
      .def("close", &close)
      .def("iterate",
           [](Problem& self, int reach) {
             const nb::gil_scoped_release released;
             return self.field.iterate(self.open, static_cast<Reach>(reach));
           })
      .def("torn", [](const Problem& self) { return static_cast<Index>(self.open.torn.size()); })
      .def("certify",
           [](Problem& self) {
             const nb::gil_scoped_release released;
             self.field.certify(self.open);
             return static_cast<Index>(self.open.nodes.size());
           })
      .def("improve", [](Problem& self) { self.field.improve(self.open); })
      .def("branch", &branch, "iterations"_a, "limit"_a)
      .def("bound", &bound)
      .def("labels", &labels, "out"_a)
      .def("nodes", &nodes)
      .def("components", &components)
      .def("open_sentences", &open_sentences)
      .def("size", [](const Problem& self) {
        return nb::make_tuple(self.field.blocks().size(), self.field.blocks().slots(),
                              static_cast<Index>(self.field.everything().blocks.size()),
                              static_cast<Index>(self.field.everything().nodes.size()));
      });
}

}  // namespace certus
