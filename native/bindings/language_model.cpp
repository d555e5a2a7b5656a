// N-gram language models: text in, models as arrays, and their answers out.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings/language_model.hpp"
#include "translate/arpa.hpp"
#include "translate/kneser_ney.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace translate;

// Calls visit(word) for each word of a sentence, which is a text or a list of words, or a tuple of them.
template <class Visit>
void read_sentence(nb::handle sentence, Index number, const Visit& visit) {
  if (PyUnicode_Check(sentence.ptr())) return split_words(utf8(sentence, {number}), visit);
  if (!PyList_Check(sentence.ptr()) && !PyTuple_Check(sentence.ptr()))
    refuse(Place{number}.say() + "expected a text or a list of words, not " + nb::inst_name(sentence).c_str());
  Index token = 0;
  for (const nb::handle word : sentence) visit(utf8(word, {number, -1, token++}));
}

void add_sentences(NgramCounter& self, const nb::list& sentences, Index first) {
  for (const nb::handle sentence : sentences) {
    try {
      read_sentence(sentence, first, [&](std::string_view word) {
        if (word.empty() || std::any_of(word.begin(), word.end(), is_blank))
          throw std::invalid_argument("the word '" + std::string(word) + "' is empty or has a blank in it");
        self.add_word(word);
      });
    } catch (const std::invalid_argument& error) {
      refuse(Place{first}.say() + error.what());
    }
    self.end_sentence();
    ++first;
  }
}

Sentences read_sentences(const Vocabulary& vocabulary, const nb::list& sentences) {
  Sentences found;
  Index number = 0;
  for (const nb::handle sentence : sentences) {
    read_sentence(sentence, number++, [&](std::string_view word) { found.words.push_back(vocabulary.find(word)); });
    found.first.push_back(static_cast<Index>(found.words.size()));
  }
  return found;
}

nb::dict export_arrays(Ngrams& ngrams) {
  Tables tables = run_unlocked([&] { return make_tables(ngrams); });
  nb::dict out;
  out["word_bytes"] = array(std::vector(ngrams.words.bytes));
  out["word_begin"] = array(std::vector(ngrams.words.begin));
  out["word_slots"] = array(std::vector(ngrams.words.slots));
  out["state_ends"] = array(std::move(tables.ends));
  out["arc_begin"] = array(std::move(tables.begin));
  out["suffix"] = array(std::move(tables.suffix));
  out["backoff"] = array(std::move(tables.backoff));
  out["arc_word"] = array(std::move(tables.word));
  out["arc_score"] = array(std::move(tables.score));
  out["arc_next"] = array(std::move(tables.next));
  return out;
}

auto score_sentences(const BoundModel& self, const nb::list& sentences, bool begin, bool end) {
  const Sentences read = read_sentences(self->vocabulary(), sentences);
  std::vector<double> scores(read.first.size() - 1);
  run_unlocked([&] { self->score_sentences(read, {begin, end}, scores.data()); });
  return array(std::move(scores));
}

WordScores score_words(const BoundModel& self, nb::handle sentence, bool begin, bool end) {
  std::vector<Word> words;
  read_sentence(sentence, -1, [&](std::string_view word) { words.push_back(self->vocabulary().find(word)); });
  return self->score_words(words, {begin, end});
}

void check_state(const BoundModel& self, Index state) {
  if (state < 0 || state >= self->automaton().states) refuse("there is no state " + std::to_string(state));
}

Step advance(const BoundModel& self, Index state, nb::handle word) {
  check_state(self, state);
  return self->automaton().advance(static_cast<State>(state), self->vocabulary().find(utf8(word, {})));
}

double find_bound(BoundModel& self, nb::handle context, nb::handle word) {
  std::vector<Word> words;
  read_sentence(context, -1, [&](std::string_view before) { words.push_back(self->vocabulary().find(before)); });
  const Word number = self->vocabulary().find(utf8(word, {}));
  return self.bounds().find(self->automaton(), words, number);
}

void bind_ngrams(nb::module_& m) {
  define_arrays(nb::class_<Level>(m, "NgramLevel"), "parent", &Level::parent, "word", &Level::word, "suffix",
                &Level::suffix, "score", &Level::score, "backoff", &Level::backoff);
  nb::class_<Ngrams>(m, "Ngrams")
      .def_prop_ro("order", [](const Ngrams& self) { return self.levels.size(); })
      .def(
          "level", [](Ngrams& self, Index order) -> Level& { return self.levels.at(order - 1); }, "order"_a,
          nb::rv_policy::reference_internal)
      .def(
          "spell",
          [](const Ngrams& self, Index word) {
            if (word < 0 || word >= self.words.size()) refuse("there is no such word");
            const std::string_view text = self.words.view().spell(static_cast<Word>(word));
            return nb::str(text.data(), text.size());
          },
          "word"_a)
      .def("export", &export_arrays);
  nb::class_<Discounts>(m, "Discounts")
      .def_prop_ro("amounts",
                   [](const Discounts& self) { return std::vector(self.amount.begin() + 1, self.amount.end()); })
      .def_prop_ro("counts",
                   [](const Discounts& self) { return std::vector(self.counts.begin() + 1, self.counts.end()); })
      .def_ro("computed", &Discounts::computed);
  define_fields(nb::class_<NgramCounter>(m, "NgramCounter"), "lines", &NgramCounter::lines, "sentences",
                &NgramCounter::sentences, "tokens", &NgramCounter::tokens, "blank", &NgramCounter::blank)
      .def(nb::init<>())
      .def(
          "add_text",
          [](NgramCounter& self, nb::handle text) {
            const std::string_view bytes = utf8(text, {});
            run_unlocked([&] { self.add_text(bytes); });
          },
          "text"_a)
      .def("add_sentences", &add_sentences, "sentences"_a, "first"_a)
      .def("count_longer", [](NgramCounter& self) { run_unlocked([&] { self.count_longer(); }); })
      .def("estimate", [](NgramCounter& self) { return run_unlocked([&] { return self.estimate(); }); })
      .def("size", &NgramCounter::size, "order"_a)
      .def_prop_ro("order", &NgramCounter::order)
      .def_prop_ro("discounts", [](const NgramCounter& self) { return self.discounts(); });
}

void bind_arpa(nb::module_& m) {
  nb::class_<ArpaReader>(m, "ArpaReader")
      .def(nb::init<double>(), "unknown"_a)
      .def(
          "add_text",
          [](ArpaReader& self, nb::handle text) {
            const std::string_view bytes = utf8(text, {});
            run_unlocked([&] { self.add_text(bytes); });
          },
          "text"_a)
      .def("finish", [](ArpaReader& self) { return run_unlocked([&] { return self.finish(); }); })
      .def_prop_ro("lines", &ArpaReader::lines)
      .def_prop_ro("added", &ArpaReader::added);
  nb::class_<ArpaWriter>(m, "ArpaWriter")
      .def(
          "__init__",
          [](ArpaWriter* self, const BoundModel& model) {
            run_unlocked([&] { new (self) ArpaWriter(model->vocabulary(), model->automaton()); });
          },
          "model"_a, nb::keep_alive<1, 2>())
      .def(
          "write",
          [](const ArpaWriter& self, Index first, Index last) {
            const std::string text = run_unlocked([&] { return self.write(first, last); });
            return nb::bytes(text.data(), text.size());
          },
          "first"_a, "last"_a);
}

}  // namespace

void bind_language_model(nb::module_& m) {
  bind_ngrams(m);
  define_fields(nb::class_<Step>(m, "LanguageModelStep"), "score", &Step::score, "state", &Step::state, "length",
                &Step::length);
  define_arrays(nb::class_<WordScores>(m, "WordScores"), "score", &WordScores::score, "length", &WordScores::length,
                "unknown", &WordScores::unknown);
  define_fields(nb::class_<Likelihood>(m, "Likelihood"), "sentences", &Likelihood::sentences, "tokens",
                &Likelihood::tokens, "unknown", &Likelihood::unknown, "blank", &Likelihood::blank, "known_score",
                &Likelihood::known_score, "unknown_score", &Likelihood::unknown_score)
      .def(nb::init<>());
  nb::class_<BoundModel>(m, "LanguageModel")
      .def(nb::init<const nb::dict&>(), "arrays"_a)
      .def_prop_ro("begin", [](const BoundModel& self) { return self->begin(); })
      .def(
          "contains",
          [](const BoundModel& self, nb::handle word) {
            return self->vocabulary().find(utf8(word, {})) >= kSpecial.size();
          },
          "word"_a)
      .def(
          "number",
          [](const BoundModel& self, const std::vector<std::string>& words) {
            std::vector<Word> found;
            found.reserve(words.size());
            for (const std::string& word : words) found.push_back(self->vocabulary().find(word));
            return array(std::move(found));
          },
          "words"_a)
      .def("advance", &advance, "state"_a, "word"_a)
      .def("bound", &find_bound, "context"_a, "word"_a)
      .def("score", &score_sentences, "sentences"_a, "begin"_a, "end"_a)
      .def("score_words", &score_words, "sentence"_a, "begin"_a, "end"_a)
      .def(
          "add_text",
          [](const BoundModel& self, nb::handle text, Likelihood& total) {
            const std::string_view bytes = utf8(text, {});
            run_unlocked([&] { self->add_text(bytes, total); });
          },
          "text"_a, "total"_a)
      .def(
          "add_sentences",
          [](const BoundModel& self, const nb::list& sentences, Likelihood& total) {
            const Sentences read = read_sentences(self->vocabulary(), sentences);
            run_unlocked([&] { self->add_sentences(read, total); });
          },
          "sentences"_a, "total"_a);
  bind_arpa(m);
}

}  // namespace certus
