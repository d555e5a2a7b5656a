// Word alignment: sentence pairs in, posterior links and the best alignments out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "align/aligner.hpp"
#include "align/decomposition.hpp"
#include "align/posterior_decoding.hpp"
#include "align/relaxed_search.hpp"
#include "base/parallel.hpp"
#include "bindings/state.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace align;
using Sentences = std::vector<std::vector<std::string>>;

Bitext make_bitext(const Flat<const Word>& source, const Flat<const Index>& source_first,
                   const Flat<const Word>& target, const Flat<const Index>& target_first,
                   const Flat<const std::int32_t>& times, Index source_words, Index target_words) {
  Bitext bitext;
  bitext.words[0] = {source.data(), source.size()};
  bitext.words[1] = {target.data(), target.size()};
  bitext.first[0] = {source_first.data(), source_first.size()};
  bitext.first[1] = {target_first.data(), target_first.size()};
  bitext.times = {times.data(), times.size()};
  bitext.vocabulary[0] = source_words;
  bitext.vocabulary[1] = target_words;
  for (int side = 0; side < 2; ++side) {
    if (bitext.first[side].size() != bitext.times.size() + 1 ||
        bitext.first[side].back() != static_cast<Index>(bitext.words[side].size()))
      refuse("offsets do not fit the sentences");
    for (const Word word : bitext.words[side])
      if (Index{word} >= bitext.vocabulary[side]) refuse("a word is not in the vocabulary");
  }
  return bitext;
}

void make_trainer(Trainer* self, const Flat<const Word>& source, const Flat<const Index>& source_first,
                  const Flat<const Word>& target, const Flat<const Index>& target_first,
                  const Flat<const std::int32_t>& times, const std::vector<std::string>& source_words,
                  const std::vector<std::string>& target_words, double sparse, double spelling, double stems,
                  Index cells_in_memory, std::string folder) {
  const Bitext bitext = make_bitext(source, source_first, target, target_first, times,
                                    static_cast<Index>(source_words.size()), static_cast<Index>(target_words.size()));
  const nb::gil_scoped_release released;
  Storage storage;
  storage.cells = cells_in_memory;
  storage.folder = std::move(folder);
  new (self) Trainer(bitext, source_words, target_words, {sparse, spelling, stems}, storage);
}

Kind read_kind(const std::string& name) {
  if (name == "ibm1") return Kind::ibm1;
  if (name == "diagonal") return Kind::diagonal;
  if (name == "hmm") return Kind::hmm;
  if (name != "fertility") refuse("there is no kind of aligner called " + name);
  return Kind::fertility;
}

Settings make_settings(const std::string& kind, double null, double tension, bool agreement) {
  return {read_kind(kind), static_cast<float>(null), static_cast<float>(tension), agreement};
}

double iterate_trainer(Trainer& self, const std::string& kind, double null, double tension, bool agreement, bool stems,
                       bool count_fertility, Index threads) {
  const Step step{make_settings(kind, null, tension, agreement), agreement, stems, count_fertility, threads};
  const nb::gil_scoped_release released;
  return self.iterate(step);
}

// What the next iteration needs, as views of the trainer's own memory: a copy would take gigabytes for large corpora.
nb::dict get_state(nb::handle_t<Trainer> self) {
  nb::dict out;
  nb::cast<Trainer&>(self).state.visit_arrays([&](const char* name, auto& values) {
    using X = std::remove_cvref_t<decltype(values[0])>;
    out[name] = nb::ndarray<nb::numpy, const X, nb::ndim<1>>(values.data(), {values.size()}, self);
  });
  return out;
}

void restore(Trainer& self, const nb::dict& state) {
  self.state.visit_arrays([&](const char* name, auto& values) {
    using X = std::remove_cvref_t<decltype(values[0])>;
    const auto found = get<X>(state, name, static_cast<Index>(values.size()));
    std::copy_n(found.data(), values.size(), values.begin());
  });
  self.resume();
}

nb::dict export_trainer(const Trainer& self, double least) {
  Tables tables = export_tables(self, least);
  nb::dict out;
  visit_arrays(tables, [&](const char* name, auto& values) { out[name] = array(std::move(values)); });
  return out;
}

void make_aligner(Aligner* self, std::vector<std::string> source_words, std::vector<std::string> target_words,
                  const nb::dict& arrays, double sparse, double spelling, double stems, const std::string& kind,
                  double null, double tension, bool agreement) {
  Tables tables;
  tables.words[0] = std::move(source_words);
  tables.words[1] = std::move(target_words);
  visit_arrays(tables, [&](const char* name, auto& values) {
    values = copy(get<std::remove_cvref_t<decltype(values[0])>>(arrays, name));
  });
  try {
    new (self) Aligner(std::move(tables), {sparse, spelling, stems}, make_settings(kind, null, tension, agreement));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

// The posteriors of a pair: each is [source][target].
struct Posteriors {
  std::vector<float> forward, backward;  // target words from source words, and source words from target words
  std::vector<float> forward_null;       // [target]
  std::vector<float> backward_null;      // [source]
};

Posteriors read_posteriors(const Pair& pair, const Agreement& agreement) {
  Posteriors found{{}, agreement.direction[0].links, agreement.direction[1].nothing, agreement.direction[0].nothing};
  const std::vector<float>& links = agreement.direction[1].links;
  for (Index i = 0; i < pair.length[0]; ++i)
    for (Index j = 0; j < pair.length[1]; ++j) found.forward.push_back(links[j * pair.length[0] + i]);
  return found;
}

// Calls work(n, workspace) for each of the pairs.
template <class Work>
void for_each_pair(const Aligner& self, const Sentences& source, const Sentences& target, Index threads,
                   const Work& work) {
  const auto count = static_cast<Index>(source.size());
  if (target.size() != source.size()) refuse("there must be as many source as target sentences");
  const nb::gil_scoped_release released;
  std::vector<Aligner::Workspace> workspaces(std::max<Index>(1, std::min(threads, count)));
  parallel(count, static_cast<Index>(workspaces.size()), [&](Index n, Index thread) {
    self.find_posteriors(source[n], target[n], workspaces[thread]);
    work(n, workspaces[thread]);
  });
}

std::vector<Posteriors> find_posteriors(const Aligner& self, const Sentences& source, const Sentences& target,
                                        Index threads) {
  std::vector<Posteriors> found(source.size());
  for_each_pair(self, source, target, threads, [&](Index n, const Aligner::Workspace& workspace) {
    found[n] = read_posteriors(workspace.pair, workspace.agreement);
  });
  return found;
}

// The lexical probabilities of a pair in the same layout.
Posteriors find_lexical(const Aligner& self, const std::vector<std::string>& source,
                        const std::vector<std::string>& target) {
  Aligner::Workspace workspace;
  self.read_pair(source, target, workspace);
  const Pair& pair = workspace.pair;
  Posteriors found{{}, pair.word[0], pair.nothing[1], pair.nothing[0]};
  for (Index i = 0; i < pair.length[0]; ++i)
    for (Index j = 0; j < pair.length[1]; ++j) found.forward.push_back(pair.word[1][j * pair.length[0] + i]);
  return found;
}

// The links of a pair, by source and target.
struct AlignedPair {
  std::vector<Index> source, target;
  std::vector<float> probability;
  double score, bound;
  Status status;
  Index iterations, nodes;
};

std::vector<AlignedPair> align_pairs(const Aligner& self, const Sentences& source, const Sentences& target,
                                     const Decoding& decoding, Index threads) {
  std::vector<AlignedPair> found(source.size());
  for_each_pair(self, source, target, threads, [&](Index n, const Aligner::Workspace& workspace) {
    const Links links = decode_posteriors(workspace.pair, workspace.agreement, decoding);
    const Alignment& best = links.alignment;
    found[n] = {{}, {}, {}, best.score, best.bound, best.status, best.iterations, best.nodes};
    for (const Link& link : links.links) {
      found[n].source.push_back(link.source);
      found[n].target.push_back(link.target);
      found[n].probability.push_back(link.probability);
    }
  });
  return found;
}

// The links of many pairs, one after the other.
struct LinkBatch {
  std::vector<Index> first{0};  // [pairs + 1]
  std::vector<Index> source, target;
  std::vector<float> probability;
};

LinkBatch choose_pairs(const Aligner& self, const Sentences& source, const Sentences& target, bool forward,
                       Index threads) {
  std::vector<std::vector<Link>> chosen(source.size());
  for_each_pair(self, source, target, threads, [&](Index n, const Aligner::Workspace& workspace) {
    choose_links(workspace.pair, workspace.agreement, forward ? 1 : 0, chosen[n]);
  });
  LinkBatch found;
  for (const std::vector<Link>& links : chosen) {
    for (const Link& link : links) {
      found.source.push_back(link.source);
      found.target.push_back(link.target);
      found.probability.push_back(link.probability);
    }
    found.first.push_back(static_cast<Index>(found.source.size()));
  }
  return found;
}

Side make_side(const Table<const double>& choice, const std::optional<Table<const double>>& step) {
  return {extent(choice), extent(choice, 1), choice.data(), step ? step->data() : nullptr};
}

Alignment align_matrices(const Table<const double>& source, const Table<const double>& target,
                         const std::optional<Table<const double>>& source_steps,
                         const std::optional<Table<const double>>& target_steps, double adjacent, double apart,
                         double alone, Index iterations, Index nodes, double seconds) {
  const Agreed problem{{make_side(source, source_steps), make_side(target, target_steps)}, {adjacent, apart, alone}};
  const nb::gil_scoped_release released;
  return align_both(problem, {iterations, nodes, seconds});
}

// The methods of papers know full and adjacent agreement only.
Agreed make_strict(const Table<const double>& source, const Table<const double>& target,
                   const std::optional<Table<const double>>& source_steps,
                   const std::optional<Table<const double>>& target_steps, double adjacent) {
  return {{make_side(source, source_steps), make_side(target, target_steps)},
          {adjacent, kNever<double>, kNever<double>}};
}

RelaxedAlignment align_matrices_relaxed(const Table<const double>& source, const Table<const double>& target,
                                        const std::optional<Table<const double>>& source_steps,
                                        const std::optional<Table<const double>>& target_steps, double adjacent,
                                        Index iterations, Index constrained_iterations, bool from_chain, double step,
                                        double seconds) {
  const Agreed problem = make_strict(source, target, source_steps, target_steps, adjacent);
  const nb::gil_scoped_release released;
  RelaxedSettings settings;
  settings.iterations = iterations;
  settings.constrained_iterations = constrained_iterations;
  settings.seconds = seconds;
  settings.from_chain = from_chain;
  settings.step = step;
  return align_relaxed(problem, settings);
}

DecomposedAlignment align_matrices_decomposed(const Table<const double>& source, const Table<const double>& target,
                                              const std::optional<Table<const double>>& source_steps,
                                              const std::optional<Table<const double>>& target_steps, double adjacent,
                                              Index iterations, double seconds) {
  const Agreed problem = make_strict(source, target, source_steps, target_steps, adjacent);
  const nb::gil_scoped_release released;
  return align_decomposed(problem, iterations, seconds);
}

}  // namespace

void bind_align(nb::module_& m) {
  define_arrays(nb::class_<Posteriors>(m, "LinkPosteriors"), "forward", &Posteriors::forward, "backward",
                &Posteriors::backward, "forward_null", &Posteriors::forward_null, "backward_null",
                &Posteriors::backward_null);
  define_fields(define_arrays(nb::class_<Alignment>(m, "AgreedAlignment"), "source", &Alignment::source, "target",
                              &Alignment::target, "dual", &Alignment::dual, "primal", &Alignment::primal),
                "score", &Alignment::score, "bound", &Alignment::bound, "status", &Alignment::status, "iterations",
                &Alignment::iterations, "nodes", &Alignment::nodes, "pruned", &Alignment::pruned);
  m.def("align_matrices", &align_matrices, "source"_a, "target"_a, "source_steps"_a.none(), "target_steps"_a.none(),
        "adjacent"_a, "apart"_a, "alone"_a, "iterations"_a, "nodes"_a, "seconds"_a);
  define_fields(define_arrays(nb::class_<RelaxedAlignment, Alignment>(m, "RelaxedAlignment"), "intersection",
                              &RelaxedAlignment::intersection, "space", &RelaxedAlignment::space),
                "constraints", &RelaxedAlignment::constraints);
  m.def("align_matrices_relaxed", &align_matrices_relaxed, "source"_a, "target"_a, "source_steps"_a.none(),
        "target_steps"_a.none(), "adjacent"_a, "iterations"_a, "constrained_iterations"_a, "from_chain"_a, "step"_a,
        "seconds"_a);
  define_arrays(nb::class_<DecomposedAlignment, Alignment>(m, "DecomposedAlignment"), "backward",
                &DecomposedAlignment::backward, "forward", &DecomposedAlignment::forward);
  m.def("align_matrices_decomposed", &align_matrices_decomposed, "source"_a, "target"_a, "source_steps"_a.none(),
        "target_steps"_a.none(), "adjacent"_a, "iterations"_a, "seconds"_a);
  nb::class_<Decoding>(m, "LinkDecoding")
      .def(
          "__init__",
          [](Decoding* self, double adjacent, double apart, double alone, double null, Index iterations, Index nodes,
             double seconds) {
            new (self) Decoding{{adjacent, apart, alone}, Decoding{}.floor, null, {iterations, nodes, seconds}};
          },
          "adjacent"_a, "apart"_a, "alone"_a, "null"_a, "iterations"_a, "nodes"_a, "seconds"_a);
  define_fields(define_arrays(nb::class_<AlignedPair>(m, "AlignedPair"), "source", &AlignedPair::source, "target",
                              &AlignedPair::target, "probability", &AlignedPair::probability),
                "score", &AlignedPair::score, "bound", &AlignedPair::bound, "status", &AlignedPair::status,
                "iterations", &AlignedPair::iterations, "nodes", &AlignedPair::nodes);
  define_arrays(nb::class_<LinkBatch>(m, "LinkBatch"), "first", &LinkBatch::first, "source", &LinkBatch::source,
                "target", &LinkBatch::target, "probability", &LinkBatch::probability);
  nb::class_<Trainer>(m, "AlignmentTrainer")
      .def("__init__", &make_trainer, "source"_a.noconvert(), "source_first"_a.noconvert(), "target"_a.noconvert(),
           "target_first"_a.noconvert(), "times"_a.noconvert(), "source_words"_a, "target_words"_a, "sparse"_a,
           "spelling"_a, "stems"_a, "cells_in_memory"_a, "folder"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
           nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>())
      .def("iterate", &iterate_trainer, "kind"_a, "null"_a, "tension"_a, "agreement"_a, "stems"_a, "count_fertility"_a,
           "threads"_a)
      .def("state", &get_state)
      .def("restore", &restore, "state"_a)
      .def("export", &export_trainer, "least"_a);
  nb::class_<Aligner>(m, "AlignmentModel")
      .def("__init__", &make_aligner, "source_words"_a, "target_words"_a, "arrays"_a, "sparse"_a, "spelling"_a,
           "stems"_a, "kind"_a, "null"_a, "tension"_a, "agreement"_a)
      .def("choose", &choose_pairs, "source"_a, "target"_a, "forward"_a, "threads"_a)
      .def("align", &align_pairs, "source"_a, "target"_a, "decoding"_a, "threads"_a)
      .def("find_lexical", &find_lexical, "source"_a, "target"_a)
      .def("find_posteriors", &find_posteriors, "source"_a, "target"_a, "threads"_a);
}

}  // namespace certus
