// Training CRFs and applying them.
#include "bindings/crf_items.hpp"
#include "bindings/crf_trainer.hpp"
#include "learn/crf/mistakes.hpp"

using namespace nb::literals;

namespace certus {
namespace {

// The weights of a layout's rows that are not 0.
struct Weighted {
  Weighted(const CrfLayout& layout, const double* w) {
    for (Index f = 0; f < layout.features(); ++f) {
      const CrfLayout::Row& row = layout.row(f);
      for (Label k = 0; k < row.count; ++k) {
        if (w[row.begin + k] == 0) continue;
        label.push_back(row.dense ? k : layout.listed(row)[k]);
        weight.push_back(w[row.begin + k]);
      }
      begin.push_back(static_cast<Index>(label.size()));
    }
  }

  CrfRows release() && { return {as_array(std::move(begin)), as_array(std::move(label)), as_array(std::move(weight))}; }

  std::vector<Index> begin{0};
  std::vector<Label> label;
  std::vector<double> weight;
};

struct CrfMarginals {
  nb::object probabilities;   // [tokens][L]
  nb::object log_partitions;  // [sentences]
};

// The k best label sequences of a sentence, or all where there are fewer, best first.
struct CrfKBest {
  nb::object labels;             // [found][T]
  nb::object log_probabilities;  // [found]
};

CrfRows rows(const CrfModel& model) { return Weighted(model.layout(), model.weights().data()).release(); }

// The weights of one label after another: [L][L], [from][to].
nb::object transitions(const CrfModel& model) {
  const CrfLayout& layout = model.layout();
  std::vector<double> out;
  const std::size_t L = static_cast<std::size_t>(layout.labels());
  for (Index i = 0; i < layout.labels(); ++i) {
    const double* from = model.weights().data() + layout.transitions() + i * layout.width();
    out.insert(out.end(), from, from + L);
  }
  return as_array(std::move(out), {L, L});
}

CrfModel* make_model(Index labels, Flat<const Index> begin, Flat<const Label> label, Flat<const double> weight,
                     Table<const double> transitions) {
  const nb::gil_scoped_release released;
  const std::vector<Index> row_begin(begin.data(), begin.data() + begin.shape(0));
  const std::vector<Label> row_label(label.data(), label.data() + label.shape(0));
  std::vector<unsigned char> linked(labels * labels);
  for (Index n = 0; n < labels * labels; ++n) linked[n] = transitions.data()[n] != 0;
  auto layout = std::make_shared<CrfLayout>(labels, row_begin, row_label, linked);
  Doubles w(layout->size(), 0.0);
  for (Index f = 0; f < layout->features(); ++f) {
    const CrfLayout::Row& row = layout->row(f);
    for (Index n = row_begin[f]; n < row_begin[f + 1]; ++n)
      w[row.begin + (row.dense ? row_label[n] : n - row_begin[f])] = weight.data()[n];
  }
  for (Index i = 0; i < labels; ++i)
    std::copy_n(transitions.data() + i * labels, labels, w.data() + layout->transitions() + i * layout->width());
  return new CrfModel(std::move(layout), std::move(w));
}

nb::object decode(const CrfModel& model, const learn::Corpus& corpus, Index threads) {
  std::vector<Index> labels(corpus.tokens());
  {
    const nb::gil_scoped_release released;
    model.decode(CrfInput(model.layout(), CrfTokens(corpus)), threads, labels.data());
  }
  return as_array(std::move(labels));
}

nb::object emissions(const CrfModel& model, const learn::Corpus& corpus, Index threads) {
  const Index tokens = corpus.tokens(), L = model.layout().labels();
  std::vector<double> out(tokens * L);
  {
    const nb::gil_scoped_release released;
    model.emissions(CrfInput(model.layout(), CrfTokens(corpus)), threads, out.data());
  }
  return as_array(std::move(out), {static_cast<std::size_t>(tokens), static_cast<std::size_t>(L)});
}

CrfMarginals marginals(const CrfModel& model, const learn::Corpus& corpus, Index threads) {
  const Index tokens = corpus.tokens(), L = model.layout().labels();
  std::vector<double> out(tokens * L), log_partition(corpus.sentences());
  {
    const nb::gil_scoped_release released;
    model.marginals(CrfInput(model.layout(), CrfTokens(corpus)), threads, out.data(), log_partition.data());
  }
  return {as_array(std::move(out), {static_cast<std::size_t>(tokens), static_cast<std::size_t>(L)}),
          as_array(std::move(log_partition))};
}

CrfKBest decode_kbest(const CrfModel& model, const learn::Corpus& corpus, Index sentence, Index k) {
  const CrfTokens tokens(corpus);
  const Index T = tokens.sentence_begin[sentence + 1] - tokens.sentence_begin[sentence];
  std::vector<Index> labels(k * T);
  std::vector<double> log_probability(k);
  Index found = 1;  // a sentence without tokens has one label sequence, the empty one, with probability 1
  if (T > 0) {
    const nb::gil_scoped_release released;
    CrfTokens one = tokens;
    one.sentences = 1;
    const Index begin[2] = {0, T};
    one.token_begin += tokens.sentence_begin[sentence];
    one.sentence_begin = begin;
    found = model.best(CrfInput(model.layout(), one), 0, k, labels.data(), log_probability.data());
  }
  labels.resize(found * T);
  log_probability.resize(found);
  return {as_array(std::move(labels), {static_cast<std::size_t>(found), static_cast<std::size_t>(T)}),
          as_array(std::move(log_probability))};
}

template <class Vocabulary>
learn::Corpus read(Vocabulary& vocabulary, const nb::iterable& sentences, const char* name) {
  CrfReader reader(vocabulary, name);
  for (nb::handle sentence : sentences) reader.read(sentence);
  return std::move(reader.corpus);
}

// From features to label names in one go: a list of lists.
nb::list predict(const CrfModel& model, const CrfVocabulary& vocabulary, const nb::iterable& sentences,
                 const nb::tuple& names, Index threads) {
  const learn::Corpus corpus = read(vocabulary, sentences, "X");
  const CrfTokens tokens(corpus);
  std::vector<Index> labels(tokens.tokens());
  {
    const nb::gil_scoped_release released;
    model.decode(CrfInput(model.layout(), tokens), threads, labels.data());
  }
  nb::list out;
  for (Index s = 0; s < tokens.sentences; ++s) {
    const Index first = tokens.sentence_begin[s], length = tokens.sentence_begin[s + 1] - first;
    const nb::object list = nb::steal(PyList_New(length));
    for (Index t = 0; t < length; ++t) {
      PyObject* name = NB_TUPLE_GET_ITEM(names.ptr(), labels[first + t]);
      Py_INCREF(name);
      NB_LIST_SET_ITEM(list.ptr(), t, name);
    }
    out.append(list);
  }
  return out;
}

void bind_vocabulary(nb::module_& m) {
  nb::class_<CrfVocabulary>(m, "CrfVocabulary")
      .def(nb::init<>())
      .def(
          "__init__",
          [](CrfVocabulary* self, const nb::bytes& text, Flat<const Index> begin) {
            const std::size_t count = begin.shape(0);
            Index before = 0;
            for (std::size_t n = 0; n < count; ++n) {
              if (begin(n) < before || begin(n) > static_cast<Index>(text.size()))
                throw nb::value_error("the names of the features do not lie in their text");
              before = begin(n);
            }
            new (self) CrfVocabulary();
            for (std::size_t n = 0; n + 1 < count; ++n) {
              const std::string_view name(text.c_str() + begin(n), static_cast<std::size_t>(begin(n + 1) - begin(n)));
              self->add(name, CrfVocabulary::hash(name));
            }
          },
          "text"_a, "begin"_a)
      .def("__len__", &CrfVocabulary::size)
      .def_prop_ro("text", [](const CrfVocabulary& v) { return nb::bytes(v.text().data(), v.text().size()); })
      .def_prop_ro("begin", [](const CrfVocabulary& v) { return as_array(std::vector<Index>(v.begin())); })
      .def(
          "only",  // the names at these places, in their order
          [](const CrfVocabulary& v, Flat<const Index> at) {
            auto kept = std::make_unique<CrfVocabulary>();
            for (std::size_t n = 0; n < at.shape(0); ++n) kept->add(v.name(at(n)), CrfVocabulary::hash(v.name(at(n))));
            return kept.release();
          },
          "at"_a, nb::rv_policy::take_ownership)
      .def(
          "intern", [](CrfVocabulary& v, const nb::iterable& x, const char* name) { return read(v, x, name); },
          "sentences"_a, "name"_a = "X")
      .def(
          "lookup", [](const CrfVocabulary& v, const nb::iterable& x, const char* name) { return read(v, x, name); },
          "sentences"_a, "name"_a = "X");
}

void bind_records(nb::module_& m) {
  nb::class_<CrfRows>(m, "CrfRows")
      .def_ro("begin", &CrfRows::begin)
      .def_ro("label", &CrfRows::label)
      .def_ro("weight", &CrfRows::weight);
  nb::class_<CrfMarginals>(m, "CrfMarginals")
      .def_ro("probabilities", &CrfMarginals::probabilities)
      .def_ro("log_partitions", &CrfMarginals::log_partitions);
  nb::class_<CrfKBest>(m, "CrfKBest")
      .def_ro("labels", &CrfKBest::labels)
      .def_ro("log_probabilities", &CrfKBest::log_probabilities);
}

void bind_model(nb::module_& m) {
  nb::class_<CrfModel>(m, "CrfModel")
      .def_static("of", &make_model, "labels"_a, "begin"_a, "label"_a, "weight"_a, "transitions"_a,
                  nb::rv_policy::take_ownership)
      .def("rows", &rows)
      .def_prop_ro("transitions", &transitions)
      .def("decode", &decode, "corpus"_a, "threads"_a)
      .def("emissions", &emissions, "corpus"_a, "threads"_a)
      .def("marginals", &marginals, "corpus"_a, "threads"_a)
      .def("decode_kbest", &decode_kbest, "corpus"_a, "sentence"_a, "k"_a)
      .def("predict", &predict, "vocabulary"_a, "sentences"_a, "names"_a, "threads"_a);
}

void bind_trainer(nb::module_& m) {
  nb::class_<CrfTrainer>(m, "CrfTrainer")
      .def(
          "__init__",
          [](CrfTrainer* self, Index labels, Index features, const learn::Corpus& corpus, Flat<const Label> gold,
             double min_freq, bool all_states, bool all_transitions, Index latent, const learn::Corpus* pairs,
             Index pair_features, bool shared_pairs) {
            const nb::gil_scoped_release released;
            new (self) CrfTrainer(labels, features, corpus, gold,
                                  {min_freq, all_states, all_transitions, latent, shared_pairs}, pairs, pair_features);
          },
          "labels"_a, "features"_a, "corpus"_a, "gold"_a, nb::kw_only(), "min_freq"_a, "all_states"_a,
          "all_transitions"_a, "latent"_a = 1, "pairs"_a.none() = nb::none(), "pair_features"_a = 0,
          "shared_pairs"_a = false)
      .def_prop_ro("size", &CrfTrainer::size)
      .def_prop_ro("singles", [](const CrfTrainer& t) { return t.layout().size(); })
      .def_prop_ro("parameters", &CrfTrainer::parameters)
      .def_prop_ro("holes", &CrfTrainer::holes)
      .def_prop_rw("weights", &CrfTrainer::weights, &CrfTrainer::set_weights)
      .def("objective", &CrfTrainer::objective, "weights"_a, "gradient"_a, "c2"_a, "threads"_a)
      .def("model", &CrfTrainer::model, nb::rv_policy::take_ownership)
      .def("pair_rows", &CrfTrainer::pair_rows);
}

// A learner in passes, and the trainer whose weights it sets.
struct Passes {
  std::unique_ptr<CrfPasses> algorithm;
  Index epochs = 0;

  double epoch() {
    const nb::gil_scoped_release released;
    ++epochs;
    return algorithm->pass();
  }
};

template <class Options>
Passes* start(std::unique_ptr<CrfPasses> (*make)(const CrfData&, const Options&, double*), CrfTrainer& trainer,
              const Options& options) {
  trainer.check_plain();
  const nb::gil_scoped_release released;
  return new Passes{make(trainer.data(), options, trainer.w())};
}

void bind_passes(nb::module_& m) {
  const auto owned = nb::rv_policy::take_ownership;
  nb::class_<Passes>(m, "CrfPasses")
      .def("epoch", &Passes::epoch)
      .def("finish", [](Passes& self) { self.algorithm->finish(); })
      .def_prop_ro("done", [](const Passes& self) { return self.algorithm->done(); })
      .def_ro("epochs", &Passes::epochs);
  m.def(
      "crf_l2sgd",
      [](CrfTrainer& trainer, double c2, Index period, double delta, double eta, double rate, Index samples,
         Index candidates, Index max_trials, std::uint64_t seed) {
        return start(&crf_l2sgd, trainer,
                     L2SgdOptions{c2, period, delta, eta, rate, samples, candidates, max_trials, seed});
      },
      "trainer"_a, nb::kw_only(), "c2"_a, "period"_a, "delta"_a, "eta"_a, "rate"_a, "samples"_a, "candidates"_a,
      "max_trials"_a, "seed"_a, nb::keep_alive<0, 1>(), owned);
  m.def(
      "crf_sgd",
      [](CrfTrainer& trainer, double c1, double eta, double decay, std::uint64_t seed) {
        return start(&crf_sgd, trainer, SgdOptions{c1, eta, decay, seed});
      },
      "trainer"_a, nb::kw_only(), "c1"_a, "eta"_a, "decay"_a, "seed"_a, nb::keep_alive<0, 1>(), owned);
  m.def(
      "crf_perceptron",
      [](CrfTrainer& trainer, double epsilon, std::uint64_t seed) {
        return start(&crf_perceptron, trainer, MistakeOptions{epsilon, seed});
      },
      "trainer"_a, nb::kw_only(), "epsilon"_a, "seed"_a, nb::keep_alive<0, 1>(), owned);
  m.def(
      "crf_passive_aggressive",
      [](CrfTrainer& trainer, int type, double c, bool error_sensitive, bool averaging, double epsilon,
         std::uint64_t seed) {
        return start(&crf_passive_aggressive, trainer,
                     PassiveAggressiveOptions{{epsilon, seed}, type, c, error_sensitive, averaging});
      },
      "trainer"_a, nb::kw_only(), "type"_a, "c"_a, "error_sensitive"_a, "averaging"_a, "epsilon"_a, "seed"_a,
      nb::keep_alive<0, 1>(), owned);
  m.def(
      "crf_arow",
      [](CrfTrainer& trainer, double variance, double gamma, double epsilon, std::uint64_t seed) {
        return start(&crf_arow, trainer, ArowOptions{{epsilon, seed}, variance, gamma});
      },
      "trainer"_a, nb::kw_only(), "variance"_a, "gamma"_a, "epsilon"_a, "seed"_a, nb::keep_alive<0, 1>(), owned);
}

}  // namespace

// The label of a pair (i, j) is count i + j, where count is the number of states or labels.
CrfRows CrfTrainer::pair_rows() const {
  Weighted found(data_.pairs->layout, w_.data() + layout().size());
  const Index count = data_.pairs->count, W = data_.pairs->width;
  for (Label& column : found.label) column = static_cast<Label>(column / W * count + column % W);
  return std::move(found).release();
}

void bind_crf(nb::module_& m) {
  bind_vocabulary(m);
  bind_records(m);
  bind_trainer(m);
  bind_passes(m);
  bind_model(m);
}

}  // namespace certus
