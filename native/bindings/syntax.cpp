// Grammars, and the best trees of sentences under them.
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>
#include <utility>

#include "base/parallel.hpp"
#include "bindings/arrays.hpp"
#include "bindings/vectors.hpp"
#include "syntax/constituency/parses.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace syntax;

template <class X>
std::vector<X> copy(const Flat<const X>& x) {
  return {x.data(), x.data() + x.shape(0)};
}

// Word i has the leaves [first[i], first[i + 1]), sorted by symbol.
Leaves leaves_of(const Index* first, Index length, const Label* symbol, const double* score) {
  Leaves out;
  out.first.reserve(static_cast<std::size_t>(length) + 1);
  for (Index i = 0; i <= length; ++i) out.first.push_back(static_cast<std::int32_t>(first[i] - first[0]));
  for (Index n = first[0]; n < first[length]; ++n) out.leaves.push_back({symbol[n], score[n]});
  return out;
}

std::unique_ptr<Grammar> make_grammar(Label start, const Flat<const Label>& tag, const Flat<const Label>& label,
                                      const Table<const Label>& binary, const Flat<const double>& binary_score,
                                      const Table<const Label>& unary, const Flat<const double>& unary_score) {
  const nb::gil_scoped_release released;
  std::vector<Binary> two;
  for (std::size_t n = 0; n < binary.shape(0); ++n) {
    const Label* r = binary.data() + 3 * n;
    two.push_back({r[0], r[1], r[2], binary_score.data()[n]});
  }
  std::vector<Unary> one;
  for (std::size_t n = 0; n < unary.shape(0); ++n)
    one.push_back({unary.data()[2 * n], unary.data()[2 * n + 1], unary_score.data()[n]});
  try {
    return std::make_unique<Grammar>(start, copy(tag), copy(label), std::move(two), one);
  } catch (const PositiveCycle& cycle) {
    throw std::domain_error(std::to_string(cycle.symbol));
  }
}

// Trees one after the other: sentence s has those in [tree_first[s], tree_first[s + 1]), tree t the nodes in
// [node_first[t], node_first[t + 1]).
nb::tuple trees_of(std::vector<Trees>&& sentences) {
  std::vector<Index> tree_first{0}, node_first{0}, edges;
  std::vector<Label> labels;
  std::vector<std::int32_t> arity;
  std::vector<double> scores;
  std::vector<Index> exhausted;
  for (const Trees& sentence : sentences) {
    for (const Written& tree : sentence.trees) {
      labels.insert(labels.end(), tree.labels.begin(), tree.labels.end());
      arity.insert(arity.end(), tree.arity.begin(), tree.arity.end());
      scores.push_back(tree.score);
      node_first.push_back(static_cast<Index>(labels.size()));
    }
    tree_first.push_back(static_cast<Index>(scores.size()));
    exhausted.push_back(sentence.exhausted);
    edges.push_back(sentence.edges);
  }
  return nb::make_tuple(array(std::move(tree_first)), array(std::move(node_first)), array(std::move(labels)),
                        array(std::move(arity)), array(std::move(scores)), array(std::move(exhausted)),
                        array(std::move(edges)));
}

// Words of sentence s are [word_first[s], word_first[s + 1]); word w has the leaves [leaf_first[w], ...).
nb::tuple parse(const Grammar& grammar, const Flat<const Index>& word_first, const Flat<const Index>& leaf_first,
                const Flat<const Label>& symbol, const Flat<const double>& score, Index k, Index threads) {
  const Index count = static_cast<Index>(word_first.shape(0)) - 1;
  std::vector<Trees> out(static_cast<std::size_t>(count));
  {
    const nb::gil_scoped_release released;
    parallel(count, threads, [&](Index s, Index) {
      const Index begin = word_first.data()[s], length = word_first.data()[s + 1] - begin;
      const Leaves leaves = leaves_of(leaf_first.data() + begin, length, symbol.data(), score.data());
      out[s] = best_trees(grammar, leaves, k);
    });
  }
  return trees_of(std::move(out));
}

// All derivations of a sentence that score at least a threshold, packed (see Forest): for each node its span, for
// each edge its head, children and score, for each word its node, position, tag and score.
nb::tuple forest(const Grammar& grammar, const Flat<const Index>& leaf_first, const Flat<const Label>& symbol,
                 const Flat<const double>& score, double threshold) {
  const Index length = static_cast<Index>(leaf_first.shape(0)) - 1;
  Forest packed;
  {
    const nb::gil_scoped_release released;
    const Leaves leaves = leaves_of(leaf_first.data(), length, symbol.data(), score.data());
    Chart chart;
    chart.fill(grammar, leaves, nullptr, 0);
    if (chart.best() != kNever<double>) packed.pack(grammar, chart, leaves, threshold);
  }
  const std::size_t nodes = packed.symbols().size();
  std::vector<Index> begin(nodes), end(nodes), head, left, right, word, position, tag;
  std::vector<double> edge_score, word_score;
  for (const Forest::Word& w : packed.words()) {
    begin[w.node] = w.position, end[w.node] = w.position + 1;
    word.push_back(w.node), position.push_back(w.position), tag.push_back(w.tag), word_score.push_back(w.score);
  }
  for (auto e = packed.edges().rbegin(); e != packed.edges().rend(); ++e)  // children first
    begin[e->head] = begin[e->left], end[e->head] = end[e->right < 0 ? e->left : e->right];
  for (const Forest::Edge& e : packed.edges())
    head.push_back(e.head), left.push_back(e.left), right.push_back(e.right), edge_score.push_back(e.score);
  return nb::make_tuple(array(std::move(begin)), array(std::move(end)), array(std::move(head)), array(std::move(left)),
                        array(std::move(right)), array(std::move(edge_score)), array(std::move(word)),
                        array(std::move(position)), array(std::move(tag)), array(std::move(word_score)));
}

}  // namespace

void bind_syntax(nb::module_& m) {
  nb::class_<Grammar>(m, "Syntax")
      .def(nb::new_(&make_grammar), "start"_a, "tag"_a.noconvert(), "label"_a.noconvert(), "binary"_a.noconvert(),
           "binary_score"_a.noconvert(), "unary"_a.noconvert(), "unary_score"_a.noconvert())
      .def("forest", &forest, "leaf_first"_a.noconvert(), "symbol"_a.noconvert(), "score"_a.noconvert(), "threshold"_a)
      .def("parse", &parse, "word_first"_a.noconvert(), "leaf_first"_a.noconvert(), "symbol"_a.noconvert(),
           "score"_a.noconvert(), "k"_a, "threads"_a);
  nb::class_<Parses>(m, "Parses")
      .def(
          "__init__",
          [](Parses* self, const Grammar& grammar, const Flat<const Index>& leaf_first, const Flat<const Label>& symbol,
             const Flat<const double>& score, Index tags) {
            const Index length = static_cast<Index>(leaf_first.shape(0)) - 1;
            new (self) Parses(grammar, leaves_of(leaf_first.data(), length, symbol.data(), score.data()), tags);
          },
          "grammar"_a, "leaf_first"_a.noconvert(), "symbol"_a.noconvert(), "score"_a.noconvert(), "tags"_a,
          nb::keep_alive<1, 2>())
      .def(
          "maximize",
          [](Parses& self, const Table<const double>& adjust) {
            const nb::gil_scoped_release released;
            return self.maximize(adjust.data());
          },
          "adjust"_a.noconvert())
      .def("written",
           [](const Parses& self) {
             Written out;
             self.write(out);
             return nb::make_tuple(out.score, array(std::move(out.tags)), array(std::move(out.labels)),
                                   array(std::move(out.arity)));
           })
      .def(
          "max_marginals",
          [](Parses& self, const Table<const double>& adjust, Table<double> out, bool exact) {
            const nb::gil_scoped_release released;
            self.max_marginals(adjust.data(), exact, out.data());
          },
          "adjust"_a.noconvert(), "out"_a.noconvert(), "exact"_a)
      .def_prop_ro("parsed", &Parses::parsed)
      .def_prop_ro("edges", &Parses::edges);
}

}  // namespace certus
