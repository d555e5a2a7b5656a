// Consistency across a corpus: lattices and consensus nodes in, labels, scores and bounds out.
#include <algorithm>
#include <cmath>

#include "base/stopwatch.hpp"
#include "bindings/vectors.hpp"
#include "corpus/subgradient.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace corpus;

// A field and what of it is still open.
struct Problem {
  Field field;
  Region open, stuck;  // stuck: what branching could not finish

  Problem(Agreement agreement, Index nodes, bool with_outside) : field(std::move(agreement), nodes, with_outside) {}
};

void make_agreement_problem(Problem* self, Flat<const Label> group, double same, double close, double null, Index nodes,
                            bool with_outside) {
  Agreement agreement{same, close, null, copy(group)};
  new (self) Problem(std::move(agreement), nodes, with_outside);
}

// Sentences of the lattices, the first of which is number `sentence` and begins with token `token` of the corpus.
void add(Problem& self, const lattice::Lattices& lattices, Index sentence, Index token, const Flat<const Index>& nodes,
         const Flat<Label>& labels, const Flat<double>& scores, const Flat<double>& excess) {
  Heed heed;
  for (Index n = 0; n < lattices.sentences(); ++n) {
    heed(1 << 14);  // a sentence takes some microseconds
    const Index at = lattices.first()[n];
    scores.data()[n] =
        self.field.add(lattices, n, sentence + n, token + at, nodes.data() + at, labels.data() + at, excess.data()[n]);
  }
}

void close(Problem& self) {
  self.field.close();
  self.open = self.field.everything();
}

// Branches on each component of what is open; those that the limits leave unfinished are kept apart.
Index branch(Problem& self, Index iterations, Index limit, double seconds) {
  const std::int64_t end = read_clock() + static_cast<std::int64_t>(1e9 * std::clamp(seconds, 0.0, 1e9));
  for (Region& part : self.field.components(self.open))
    if (!self.field.branch(part, iterations, limit, end)) self.stuck.add(part);
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
  for (Index c = 0; c < self.field.nodes(); ++c) sum += self.field.find_highest(c);
  return sum;
}

// Writes the labels of all that blocks decide, and adds what their sentences lose by it to `scores`; returns the score
// over that of the sentences by themselves.
double labels(Problem& self, const Flat<Label>& out, const Flat<double>& scores) {
  const Blocks& blocks = self.field.blocks();
  const Mrf& mrf = self.field.mrf();
  double sum = base(self);
  std::vector<Label> found;
  for (Index b = 0; b < blocks.size(); ++b) {
    found.resize(blocks.length(b));
    Label* const first = out.data() + blocks.token[b];
    const double score = self.field.labels_inside(b, found.data(), first);
    double agreed = 0;
    for (std::size_t p = 0; p < found.size(); ++p) {
      const Index slot = blocks.slots_of(b)[p];
      if (slot >= 0) agreed += mrf.agreement(found[p], self.field.consensus(mrf.node_of[slot]));
      first[p] = found[p];
    }
    sum += score;
    scores.data()[blocks.sentence[b]] += score - agreed - blocks.base[b];
  }
  for (Index c = 0; c < self.field.nodes(); ++c) sum += self.field.prior(c);
  return sum;
}

// The sentences that would score more, given the labels of nodes, if what their lattices lack were as good as its
// bound.
auto sentences_outside(Problem& self) {
  const Blocks& blocks = self.field.blocks();
  std::vector<Index> sentences;
  for (Index b = 0; b < blocks.size(); ++b) {
    if (blocks.outside[b] == kNever<double>) continue;
    const double inside = self.field.labels_inside(b, nullptr);
    if (self.field.labels(b, nullptr) > inside + 1e-6 * (1 + std::abs(inside))) sentences.push_back(blocks.sentence[b]);
  }
  return array(std::move(sentences));
}

// What every node agrees on: a label, or the number of labels where it is turned off, and whether that is proven.
struct Consensus {
  std::vector<Label> labels;        // [nodes]
  std::vector<std::uint8_t> fixed;  // [nodes]
};

Consensus get_consensus(const Problem& self) {
  Consensus found;
  for (Index c = 0; c < self.field.nodes(); ++c) {
    found.labels.push_back(self.field.consensus(c));
    found.fixed.push_back(self.field.fixed(c));
  }
  return found;
}

// How many blocks and nodes each component of what is open has.
struct Components {
  std::vector<Index> blocks, nodes;  // [components]
};

Components count_components(Problem& self) {
  Components found;
  for (const Region& part : self.field.components(self.open)) {
    found.blocks.push_back(static_cast<Index>(part.blocks.size()));
    found.nodes.push_back(static_cast<Index>(part.nodes.size()));
  }
  return found;
}

auto open_sentences(const Problem& self) {
  std::vector<Index> sentences;
  for (const Index b : self.open.blocks) sentences.push_back(self.field.blocks().sentence[b]);
  return array(std::move(sentences));
}

// The bound of a step is that of the whole field, like `bound`.
struct Steps {
  Problem& problem;
  Subgradient subgradient;
  double outside;  // the part of the bound that does not depend on multipliers

  Steps(Problem& problem, double rate, bool lazy)
      : problem(problem),
        subgradient(problem.field, rate, lazy),
        outside(bound(problem) - problem.field.bound(problem.field.everything())) {}
};

Subgradient::Step iterate(Steps& self) {
  Subgradient::Step step = self.subgradient.iterate();
  step.bound += self.outside;
  return step;
}

// The best labels of nodes by themselves, and of their words; see Mrf.
struct NodeChoice {
  std::vector<std::int32_t> candidates;  // [words]: of the nodes asked for; -1 for others
  std::vector<Label> labels;             // [nodes asked for]
  std::vector<double> scores;            // [nodes asked for]
};

NodeChoice maximize_nodes(const Mrf& self, Flat<const Index> which, Flat<const double> u) {
  NodeChoice found{std::vector<std::int32_t>(self.node_of.size(), -1), {}, {}};
  for (std::size_t i = 0; i < which.shape(0); ++i) {
    const Index node = which.data()[i];
    std::int32_t best = 0;
    found.scores.push_back(self.maximize(node, u.data(), found.candidates.data(), best));
    found.labels.push_back(self.value[self.value_begin[node] + best]);
  }
  return found;
}

void make_mrf(Mrf* self, Flat<const Label> group, double same, double close, double null, Index nodes,
              Flat<const Index> node_of, Flat<const Index> candidates, Flat<const Label> labels,
              Flat<const Index> seen_nodes, Flat<const Label> seen_labels, Flat<const double> seen_counts) {
  new (self) Mrf;
  self->agreement = {same, close, null, copy(group)};
  self->node_of = copy(node_of);
  self->candidates.assign(candidates.data(), candidates.data() + candidates.shape(0));
  self->candidate_label = copy(labels);
  std::vector<Mrf::Observed> seen;
  for (std::size_t i = 0; i < seen_nodes.shape(0); ++i)
    seen.push_back({seen_nodes.data()[i], seen_labels.data()[i], seen_counts.data()[i]});
  self->build(nodes, std::move(seen));
}

}  // namespace

void bind_corpus(nb::module_& m) {
  nb::class_<Problem>(m, "Field")
      .def("__init__", &make_agreement_problem, "group"_a, "same"_a, "close"_a, "null"_a, "nodes"_a,
           "with_outside"_a = true)
      .def("add", &add, "lattices"_a, "sentence"_a, "token"_a, "nodes"_a, "labels"_a, "scores"_a, "excess"_a,
           Unlocked())
      .def("merge", [](Problem& self, Flat<const Index> into) { self.field.merge(into.data()); })
      .def("close", &close, Unlocked())
      .def(
          "iterate", [](Problem& self, int reach) { return self.field.iterate(self.open, static_cast<Reach>(reach)); },
          Unlocked())
      .def_prop_ro("disagreeing", [](const Problem& self) { return self.open.disagreeing.size(); })
      .def(
          "certify",
          [](Problem& self) {
            self.field.certify(self.open);
            return static_cast<Index>(self.open.nodes.size());
          },
          Unlocked())
      .def(
          "improve", [](Problem& self) { self.field.improve(self.open); }, Unlocked())
      .def("branch", &branch, "iterations"_a, "limit"_a, "seconds"_a, Unlocked())
      .def("bound", &bound)
      .def("labels", &labels, "out"_a, "scores"_a, Unlocked())
      .def("consensus", &get_consensus)
      .def("components", &count_components)
      .def("open_sentences", &open_sentences)
      .def("sentences_outside", &sentences_outside)
      .def_prop_ro("bytes", [](const Problem& self) { return self.field.blocks().bytes(); })
      .def_prop_ro("open_blocks", [](const Problem& self) { return self.open.blocks.size(); })
      .def_prop_ro("open_nodes", [](const Problem& self) { return self.open.nodes.size(); });
  define_arrays(nb::class_<Consensus>(m, "Consensus"), "labels", &Consensus::labels, "fixed", &Consensus::fixed);
  define_arrays(nb::class_<Components>(m, "Components"), "blocks", &Components::blocks, "nodes", &Components::nodes);
  define_fields(nb::class_<Subgradient::Step>(m, "SubgradientStep"), "blocks", &Subgradient::Step::blocks, "nodes",
                &Subgradient::Step::nodes, "disagree", &Subgradient::Step::disagree, "bound",
                &Subgradient::Step::bound);
  nb::class_<Steps>(m, "Subgradient")
      .def(
          "__init__",
          [](Steps* self, Problem& problem, double rate, bool lazy) { new (self) Steps(problem, rate, lazy); },
          "field"_a, "rate"_a, "lazy"_a, nb::keep_alive<1, 2>())
      .def("iterate", &iterate, Unlocked())
      .def("finish", [](Steps& self) { self.problem.open = self.subgradient.finish(); });
  define_arrays(nb::class_<NodeChoice>(m, "NodeChoice"), "candidates", &NodeChoice::candidates, "labels",
                &NodeChoice::labels, "scores", &NodeChoice::scores);
  nb::class_<Mrf>(m, "Mrf")
      .def("__init__", &make_mrf, "group"_a, "same"_a, "close"_a, "null"_a, "nodes"_a, "node_of"_a, "candidates"_a,
           "labels"_a, "seen_nodes"_a, "seen_labels"_a, "seen_counts"_a)
      .def("maximize", &maximize_nodes, "which"_a, "u"_a);
}

}  // namespace certus
