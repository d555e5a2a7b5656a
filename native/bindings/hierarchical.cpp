// Translation forests in, derivations out.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/parallel.hpp"
#include "bindings/language_model.hpp"
#include "bindings/phrase_table.hpp"
#include "translate/hierarchical/forest_search.hpp"
#include "translate/hierarchical/grammar_chart.hpp"
#include "translate/hierarchical/grammar_extraction.hpp"
#include "translate/hierarchical/leaf_program.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace translate;

template <class X>
std::span<const X> view_array(const Flat<const X>& x) {
  return {x.data(), x.shape(0)};
}

// A problem whose language model lives as long.
struct BoundForest {
  ForestProblem problem;
};

void make_forest(BoundForest* self, BoundModel& model, Index nodes, Index goal, const Flat<const Index>& heads,
                 const Flat<const double>& scores, const Flat<const Index>& first, const Flat<const Symbol>& symbols,
                 double weight) {
  const BoundaryModel& boundaries = model.boundaries();
  TargetForest forest = run_unlocked([&] {
    return sort_forest(nodes, goal, view_array(heads), view_array(scores), view_array(first), view_array(symbols));
  });
  new (self) BoundForest{{std::move(forest), &boundaries, weight}};
}

// A grammar and a language model on arrays of Python's, which it keeps.
class BoundGrammar {
 public:
  BoundGrammar(const nb::dict& arrays, BoundModel& model)
      : table_(arrays), boundaries_(model.boundaries()), chart_(table_.view(), *model) {}

  struct Result {
    SentenceForest sentence;
    ForestAnswer answer;
    std::vector<double> features;                // [derivations * features]
    std::vector<std::vector<std::string>> text;  // [derivations] words
    Index edges = 0;
    double seconds = 0;  // of parsing
  };
  // `search` gets the problem and returns the answer.
  template <class Search>
  Result translate(const std::vector<std::string>& sentence, const FeatureWeights& weights, const ChartOptions& chart,
                   const Search& search) const {
    const Stopwatch watch;
    Result made;
    made.sentence = chart_.parse(sentence, weights, chart);
    made.edges = made.sentence.forest.edges();
    made.seconds = watch.elapsed();
    const ForestProblem problem{std::move(made.sentence.forest), &boundaries_, weights.language_model};
    made.answer = search(problem);
    for (const ForestDerivation& one : made.answer.best) {
      const std::vector<double> found = chart_.describe(made.sentence, one.edges);
      made.features.insert(made.features.end(), found.begin(), found.end());
      made.text.push_back(chart_.spell(made.sentence, one.edges));
    }
    return made;
  }
  const GrammarChart& chart() const { return chart_; }
  const BoundaryModel& boundaries() const { return boundaries_; }

 private:
  const BoundTable table_;
  const BoundaryModel& boundaries_;
  GrammarChart chart_;
};

using GrammarResult = BoundGrammar::Result;
using Texts = std::vector<std::vector<std::string>>;

std::vector<GrammarResult> translate_texts(const BoundGrammar& self, const Texts& sentences,
                                           const FeatureWeights& weights, Index span, Index best,
                                           const ForestOptions& search, Index threads) {
  return run_unlocked([&] {
    std::vector<GrammarResult> made(sentences.size());
    parallel(static_cast<Index>(sentences.size()), threads, [&](Index n, Index) {
      made[n] = self.translate(sentences[n], weights, {span, best},
                               [&](const ForestProblem& problem) { return search_forest(problem, search); });
    });
    return made;
  });
}

// Translates a sentence by a solver of the caller's.
GrammarResult translate_by(const BoundGrammar& self, const std::vector<std::string>& sentence,
                           const FeatureWeights& weights, Index span, Index best, const nb::callable& solve) {
  return self.translate(sentence, weights, {span, best}, [&](const ForestProblem& problem) {
    return nb::cast<ForestAnswer>(solve(BoundForest{problem}));
  });
}

nb::dict extract_rules(const Texts& source, const Texts& target, const Flat<const std::int32_t>& link_source,
                       const Flat<const std::int32_t>& link_target, const Flat<const Index>& link_first,
                       const GrammarOptions& options) {
  WordTable source_words, target_words;
  PhraseTableArrays made = run_unlocked([&] {
    std::vector<SentencePair> pairs(source.size());
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      for (const std::string& word : source[n]) pairs[n].source.push_back(source_words.add(word));
      for (const std::string& word : target[n]) pairs[n].target.push_back(target_words.add(word));
      for (Index k = link_first.data()[n]; k < link_first.data()[n + 1]; ++k)
        pairs[n].links.emplace_back(link_source.data()[k], link_target.data()[k]);
    }
    return extract_grammar(pairs, source_words, target_words, options);
  });
  made.source = std::move(source_words);
  made.target = std::move(target_words);
  return export_table(made, true);
}

void bind_grammar(nb::module_& m) {
  nb::class_<GrammarOptions>(m, "GrammarOptions")
      .def(nb::init<>())
      .def_rw("longest", &GrammarOptions::longest)
      .def_rw("symbols", &GrammarOptions::symbols)
      .def_rw("least_gap", &GrammarOptions::least_gap)
      .def_rw("least_count", &GrammarOptions::least_count)
      .def_rw("most", &GrammarOptions::most);
  define_arrays(define_fields(nb::class_<GrammarResult>(m, "GrammarResult"), "answer", &GrammarResult::answer, "text",
                              &GrammarResult::text, "edges", &GrammarResult::edges, "seconds", &GrammarResult::seconds),
                "features", &GrammarResult::features)
      .def_prop_ro("begin", [](const GrammarResult& self) { return self.sentence.begin; })
      .def_prop_ro("end", [](const GrammarResult& self) { return self.sentence.end; });
  nb::class_<BoundGrammar>(m, "GrammarTranslator")
      .def(nb::init<const nb::dict&, BoundModel&>(), "arrays"_a, "model"_a, nb::keep_alive<1, 3>())
      .def("translate", &translate_texts, "sentences"_a, "weights"_a, "span"_a, "best"_a, "search"_a, "threads"_a)
      .def("translate_by", &translate_by, "sentence"_a, "weights"_a, "span"_a, "best"_a, "solve"_a);
  m.def("extract_grammar", &extract_rules, "source"_a, "target"_a, "link_source"_a, "link_target"_a, "link_first"_a,
        "options"_a);
}

}  // namespace

void bind_hierarchical(nb::module_& m) {
  bind_grammar(m);
  define_arrays(
      define_fields(nb::class_<ForestDerivation>(m, "TargetForestDerivation"), "score", &ForestDerivation::score),
      "edges", &ForestDerivation::edges);
  define_fields(nb::class_<ForestAnswer>(m, "TargetForestAnswer"), "best", &ForestAnswer::best, "bound",
                &ForestAnswer::bound, "status", &ForestAnswer::status, "exhausted", &ForestAnswer::exhausted, "beams",
                &ForestAnswer::beams, "items", &ForestAnswer::items, "joined", &ForestAnswer::joined, "parts",
                &ForestAnswer::parts, "relaxation_seconds", &ForestAnswer::relaxation_seconds, "beam_seconds",
                &ForestAnswer::beam_seconds, "timed_out", &ForestAnswer::timed_out);
  define_arrays(define_fields(nb::class_<ForestProgram>(m, "TargetForestProgram"), "edges", &ForestProgram::edges),
                "cost", &ForestProgram::cost, "upper", &ForestProgram::upper, "target", &ForestProgram::target, "start",
                &ForestProgram::start, "row", &ForestProgram::row, "value", &ForestProgram::value);
  nb::class_<ForestOptions>(m, "TargetForestOptions")
      .def(nb::init<>())
      .def_rw("method", &ForestOptions::method)
      .def_rw("k", &ForestOptions::k)
      .def_rw("distinct", &ForestOptions::distinct)
      .def_rw("width", &ForestOptions::width)
      .def_rw("items", &ForestOptions::items)
      .def_rw("rounds", &ForestOptions::rounds)
      .def_rw("paths", &ForestOptions::paths)
      .def_rw("prune", &ForestOptions::prune)
      .def_rw("seconds", &ForestOptions::seconds);
  nb::class_<BoundForest>(m, "TargetForest")
      .def("__init__", &make_forest, "model"_a, "nodes"_a, "goal"_a, "heads"_a, "scores"_a, "first"_a, "symbols"_a,
           "weight"_a, nb::keep_alive<1, 2>())
      .def(
          "search",
          [](const BoundForest& self, const ForestOptions& options) {
            return run_unlocked([&] { return search_forest(self.problem, options); });
          },
          "options"_a)
      .def(
          "make_program",
          [](const BoundForest& self, Index most) {
            return run_unlocked([&] { return make_program(self.problem, most); });
          },
          "most"_a)
      .def(
          "judge_program",
          [](const BoundForest& self, const Flat<const std::uint8_t>& chosen, bool is_best, double bound) {
            return judge_program(self.problem, {chosen.data(), chosen.data() + extent(chosen)}, is_best, bound);
          },
          "chosen"_a, "is_best"_a, "bound"_a);
}

}  // namespace certus
