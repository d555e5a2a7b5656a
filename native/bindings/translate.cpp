// Phrase-based decoding: the phrases of a sentence in, derivations out.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/conclusion.hpp"
#include "base/parallel.hpp"
#include "bindings/language_model.hpp"
#include "bindings/phrase_table.hpp"
#include "translate/phrase_edges.hpp"
#include "translate/phrase_extraction.hpp"
#include "translate/phrase_search.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace translate;
using Terms = std::vector<std::vector<Word>>;

// A problem whose language model lives as long.
struct BoundProblem {
  PhraseProblem problem;
};

void make_problem(BoundProblem* self, BoundModel& model, Index words, const Flat<const std::int32_t>& begin,
                  const Flat<const std::int32_t>& end, const Flat<const double>& score, const Flat<const Index>& first,
                  const Flat<const Word>& target, const Flat<const Word>& text, double weight, double distortion,
                  Index limit) {
  PhraseOptions options{words, copy(begin), copy(end), copy(score), copy(first), copy(target), copy(text)};
  new (self) BoundProblem{{std::move(options), *model, {weight, distortion, limit}}};
}

// A derivation that somebody else found, with a bound of theirs.
PhraseAnswer make_answer(const BoundProblem& self, const std::vector<Option>& options, bool is_best, double bound) {
  PhraseAnswer answer;
  const bool found = self.problem.is_valid(options);
  if (found) answer.best.push_back({options, self.problem.score(options)});
  const double score = found ? answer.best[0].score : kNever<double>;
  const bool is_proven = is_best || self.problem.words() == 0;
  const Conclusion concluded = conclude(score, is_proven ? score : std::min(bound, self.problem.bound_derivations()));
  answer.status = concluded.status;
  answer.bound = concluded.bound;
  return answer;
}

// A phrase table and a language model on arrays of Python's, which it keeps.
class BoundTranslator {
 public:
  BoundTranslator(const nb::dict& arrays, BoundModel& model)
      : table_(arrays), model_(model), finder_(table_.view(), *model) {}

  struct Task {
    std::vector<std::string> sentence;
    std::vector<ForcedTerm> forced;
  };
  struct Result {
    SentenceOptions options;
    PhraseAnswer answer;
    std::vector<double> features;  // [derivations * features]
  };

  Result translate(const Task& task, const std::vector<std::vector<std::string>>& forbidden,
                   const FeatureWeights& weights, Index best, Index limit, const SearchOptions& search) const {
    Result made{finder_.find(task.sentence, task.forced, weights, best), {}, {}};
    Terms terms;
    for (const std::vector<std::string>& term : forbidden) {
      terms.emplace_back();
      for (const std::string& word : term) terms.back().push_back(finder_.number(made.options, word));
    }
    const PhraseProblem problem(made.options.phrases, *model_, {weights.language_model, weights.distortion, limit});
    made.answer = search_phrases(problem, ForbiddenTerms(terms), search);
    for (const Derivation& one : made.answer.best) {
      const std::vector<double> found = finder_.describe(made.options, one.options);
      made.features.insert(made.features.end(), found.begin(), found.end());
    }
    return made;
  }
  const OptionFinder& finder() const { return finder_; }
  BoundModel& model() const { return model_; }

 private:
  const BoundTable table_;
  BoundModel& model_;
  OptionFinder finder_;
};

using Result = BoundTranslator::Result;

std::vector<Result> translate_all(const BoundTranslator& self, const std::vector<BoundTranslator::Task>& tasks,
                                  const std::vector<std::vector<std::string>>& forbidden, const FeatureWeights& weights,
                                  Index best, Index limit, const SearchOptions& search, Index threads) {
  return run_unlocked([&] {
    std::vector<Result> made(tasks.size());
    parallel(static_cast<Index>(tasks.size()), threads,
             [&](Index n, Index) { made[n] = self.translate(tasks[n], forbidden, weights, best, limit, search); });
    return made;
  });
}

// The target words of a phrase. Those of a damaged file need not be UTF-8.
nb::tuple spell_option(const BoundTranslator& self, const Result& result, Option o) {
  nb::list words;
  for (const Word word : result.options.phrases.list_text(o)) {
    const std::string_view text = self.finder().spell(result.options, word);
    words.append(nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
  }
  return nb::tuple(words);
}

// Phrases by their numbers: the beginning, the end, the target words and the score of each.
nb::list list_phrases(const BoundTranslator& self, const Result& result, const std::vector<Option>& numbers) {
  const PhraseOptions& phrases = result.options.phrases;
  nb::list made;
  for (const Option o : numbers)
    made.append(nb::make_tuple(phrases.begin[o], phrases.end[o], spell_option(self, result, o), phrases.score[o]));
  return made;
}

void bind_phrase_search(nb::module_& m) {
  define_arrays(define_fields(nb::class_<Derivation>(m, "PhraseDerivation"), "score", &Derivation::score), "options",
                &Derivation::options);
  define_arrays(nb::class_<GapTrace>(m, "GapTrace"), "seconds", &GapTrace::seconds, "bound", &GapTrace::bound, "score",
                &GapTrace::score);
  define_fields(nb::class_<PhraseAnswer>(m, "PhraseAnswer"), "best", &PhraseAnswer::best, "bound", &PhraseAnswer::bound,
                "status", &PhraseAnswer::status, "exhausted", &PhraseAnswer::exhausted, "rounds", &PhraseAnswer::rounds,
                "beams", &PhraseAnswer::beams, "expanded", &PhraseAnswer::expanded, "made", &PhraseAnswer::made, "hard",
                &PhraseAnswer::hard, "graph_seconds", &PhraseAnswer::graph_seconds, "relaxation_seconds",
                &PhraseAnswer::relaxation_seconds, "beam_seconds", &PhraseAnswer::beam_seconds, "timed_out",
                &PhraseAnswer::timed_out, "trace", &PhraseAnswer::trace);
  nb::class_<SearchOptions>(m, "SearchOptions")
      .def(nb::init<>())
      .def_rw("method", &SearchOptions::method)
      .def_prop_rw(
          "k", [](const SearchOptions& x) { return x.size.k; }, [](SearchOptions& x, Index k) { x.size.k = k; })
      .def_prop_rw(
          "distinct", [](const SearchOptions& x) { return x.size.distinct; },
          [](SearchOptions& x, bool distinct) { x.size.distinct = distinct; })
      .def_prop_rw(
          "width", [](const SearchOptions& x) { return x.size.width; },
          [](SearchOptions& x, Index width) { x.size.width = width; })
      .def_prop_rw(
          "seconds", [](const SearchOptions& x) { return x.limits.seconds; },
          [](SearchOptions& x, double seconds) { x.limits.seconds = seconds; })
      .def_rw("rounds", &SearchOptions::rounds)
      .def_rw("first_rounds", &SearchOptions::first_rounds)
      .def_rw("from_zero", &SearchOptions::from_zero)
      .def_rw("gaps", &SearchOptions::gaps)
      .def_rw("pops", &SearchOptions::pops);
}

void bind_problem(nb::module_& m) {
  define_arrays(define_fields(nb::class_<PhraseEdges>(m, "PhraseEdges"), "nodes", &PhraseEdges::nodes), "tail",
                &PhraseEdges::tail, "head", &PhraseEdges::head, "begin", &PhraseEdges::begin, "end", &PhraseEdges::end,
                "option", &PhraseEdges::option, "cost", &PhraseEdges::cost);
  nb::class_<BoundProblem>(m, "PhraseProblem")
      .def("__init__", &make_problem, "model"_a, "words"_a, "begin"_a, "end"_a, "score"_a, "first"_a, "target"_a,
           "text"_a, "weight"_a, "distortion"_a, "limit"_a, nb::keep_alive<1, 2>())
      .def(
          "search",
          [](const BoundProblem& self, const Terms& forbidden, const SearchOptions& options) {
            return run_unlocked([&] { return search_phrases(self.problem, ForbiddenTerms(forbidden), options); });
          },
          "forbidden"_a, "options"_a)
      .def(
          "score",
          [](const BoundProblem& self, const std::vector<Option>& derivation) {
            return self.problem.score(derivation);
          },
          "derivation"_a)
      .def("make_answer", &make_answer, "options"_a, "is_best"_a, "bound"_a)
      .def(
          "list_edges",
          [](const BoundProblem& self, Index most) {
            return run_unlocked([&] { return list_edges(self.problem, most); });
          },
          "most"_a)
      .def_prop_ro("words", [](const BoundProblem& self) { return self.problem.words(); })
      .def_prop_ro("uncovered", [](const BoundProblem& self) { return self.problem.find_uncovered(); });
}

void bind_translator(nb::module_& m) {
  nb::class_<FeatureWeights>(m, "FeatureWeights")
      .def(nb::init<>())
      .def_rw("translation", &FeatureWeights::translation)
      .def_rw("language_model", &FeatureWeights::language_model)
      .def_rw("word", &FeatureWeights::word)
      .def_rw("phrase", &FeatureWeights::phrase)
      .def_rw("unknown", &FeatureWeights::unknown)
      .def_rw("distortion", &FeatureWeights::distortion);
  nb::class_<ForcedTerm>(m, "ForcedTerm")
      .def(
          "__init__",
          [](ForcedTerm* self, std::int32_t begin, std::int32_t end, std::vector<std::string> target) {
            new (self) ForcedTerm{begin, end, std::move(target)};
          },
          "begin"_a, "end"_a, "target"_a);
  nb::class_<BoundTranslator::Task>(m, "TranslationTask")
      .def(
          "__init__",
          [](BoundTranslator::Task* self, std::vector<std::string> sentence, std::vector<ForcedTerm> forced) {
            new (self) BoundTranslator::Task{std::move(sentence), std::move(forced)};
          },
          "sentence"_a, "forced"_a);
  define_arrays(define_fields(nb::class_<Result>(m, "TranslationResult"), "answer", &Result::answer), "features",
                &Result::features)
      .def("__len__", [](const Result& self) { return self.options.phrases.size(); });
  nb::class_<BoundTranslator>(m, "PhraseTranslator")
      .def(nb::init<const nb::dict&, BoundModel&>(), "arrays"_a, "model"_a, nb::keep_alive<1, 3>())
      .def("translate", &translate_all, "tasks"_a, "forbidden"_a, "weights"_a, "best"_a, "limit"_a, "search"_a,
           "threads"_a)
      .def(
          "list_options",
          [](const BoundTranslator& self, const BoundTranslator::Task& task, const FeatureWeights& weights,
             Index best) { return Result{self.finder().find(task.sentence, task.forced, weights, best), {}, {}}; },
          "task"_a, "weights"_a, "best"_a)
      .def("list_phrases", &list_phrases, "result"_a, "numbers"_a);
}

// Words in a vocabulary of their own, and the number of each.
nb::tuple make_vocabulary(const std::vector<std::string>& words, const std::string& side) {
  WordTable table;
  std::vector<Word> numbers;
  numbers.reserve(words.size());
  for (const std::string& word : words) numbers.push_back(table.add(word));
  nb::dict out;
  export_words(out, side, table);
  return nb::make_tuple(out, array(std::move(numbers)));
}

nb::dict extract_table(const Flat<const Word>& source, const Flat<const Index>& source_first,
                       const Flat<const Word>& target, const Flat<const Index>& target_first,
                       const Flat<const std::int32_t>& link_source, const Flat<const std::int32_t>& link_target,
                       const Flat<const Index>& link_first, Index source_types, Index target_types, Index longest,
                       Index most) {
  const AlignedText text{source.data(),      target.data(),      source_first.data(), target_first.data(),
                         link_source.data(), link_target.data(), link_first.data(),   extent(source_first) - 1,
                         source_types,       target_types};
  PhraseTableArrays made = run_unlocked([&] { return extract_phrases(text, {longest, most}); });
  return export_table(made, false);
}

void bind_tables(nb::module_& m) {
  nb::enum_<ScoreKind>(m, "ScoreKind")
      .value("GUESSED", ScoreKind::guessed)
      .value("PROBABILITY", ScoreKind::probability)
      .value("LOG10", ScoreKind::log10)
      .value("NATURAL", ScoreKind::natural);
  nb::class_<PhraseTableReader>(m, "PhraseTableReader")
      .def(nb::init<ScoreKind>(), "kind"_a)
      .def(
          "add_text",
          [](PhraseTableReader& self, nb::handle text) {
            const std::string_view bytes = utf8(text, {});
            run_unlocked([&] { self.add_text(bytes); });
          },
          "text"_a)
      .def("finish",
           [](PhraseTableReader& self) {
             PhraseTableArrays made = run_unlocked([&] { return self.finish(); });
             return export_table(made, true);
           })
      .def_prop_ro("lines", &PhraseTableReader::lines)
      .def_prop_ro("entries", &PhraseTableReader::entries)
      .def_prop_ro("features", &PhraseTableReader::features)
      .def_prop_ro("is_logarithmic", &PhraseTableReader::is_logarithmic);
  m.def("make_vocabulary", &make_vocabulary, "words"_a, "side"_a);
  m.def("extract_phrases", &extract_table, "source"_a, "source_first"_a, "target"_a, "target_first"_a, "link_source"_a,
        "link_target"_a, "link_first"_a, "source_types"_a, "target_types"_a, "longest"_a, "most"_a);
}

}  // namespace

void bind_translate(nb::module_& m) {
  bind_phrase_search(m);
  bind_problem(m);
  bind_tables(m);
  bind_translator(m);
}

}  // namespace certus
