// Training CRFs and applying them.
#include "bindings/crf_items.hpp"
#include "bindings/crf_trainer.hpp"
#include "learn/crf/mistakes.hpp"

using namespace nb::literals;

namespace certus {
namespace {

struct CrfMarginals {
  nb::object probabilities;   // [tokens][L]
  nb::object log_partitions;  // [sentences]
};

// The k best label sequences of a sentence, or all where there are fewer, best first.
struct CrfKBest {
  nb::object labels;             // [found][T]
  nb::object log_probabilities;  // [found]
};

// The weights of one label after another: [L][L], [from][to].
nb::object transitions(const CrfModel& model) {
  const CrfLayout& layout = model.layout();
  std::vector<double> out;
  const Index L = layout.labels();
  for (Index i = 0; i < L; ++i) {
    const double* from = model.weights().data() + layout.transitions() + i * layout.width();
    out.insert(out.end(), from, from + L);
  }
  return nb::cast(reshape(std::move(out), L, L));
}

CrfModel* make_crf_model(Index labels, Flat<const Index> begin, Flat<const Label> label, Flat<const double> weight,
                         Table<const double> transitions) {
  const nb::gil_scoped_release released;
  const std::vector<Index> row_begin = copy(begin);
  const std::vector<Label> row_label = copy(label);
  std::vector<unsigned char> linked(labels * labels);
  for (Index n = 0; n < labels * labels; ++n) linked[n] = transitions.data()[n] != 0;
  CrfLayout layout(labels, row_begin, row_label, linked);
  Doubles w(layout.size(), 0.0);
  for (Index f = 0; f < layout.features(); ++f) {
    const CrfLayout::Row& row = layout.row(f);
    for (Index n = row_begin[f]; n < row_begin[f + 1]; ++n)
      w[row.begin + (row.dense ? row_label[n] : n - row_begin[f])] = weight.data()[n];
  }
  for (Index i = 0; i < labels; ++i)
    std::copy_n(transitions.data() + i * labels, labels, w.data() + layout.transitions() + i * layout.width());
  return new CrfModel(std::move(layout), std::move(w));
}

std::vector<Index> decode_corpus(const CrfModel& model, const learn::Corpus& corpus, Index threads) {
  std::vector<Index> labels(corpus.tokens());
  const nb::gil_scoped_release released;
  model.decode(CrfInput(model.layout(), corpus), threads, labels.data());
  return labels;
}

auto score_corpus(const CrfModel& model, const learn::Corpus& corpus, Index threads) {
  const Index tokens = corpus.tokens(), L = model.layout().labels();
  std::vector<double> out(tokens * L);
  {
    const nb::gil_scoped_release released;
    model.emissions(CrfInput(model.layout(), corpus), threads, out.data());
  }
  return reshape(std::move(out), tokens, L);
}

CrfMarginals marginals(const CrfModel& model, const learn::Corpus& corpus, Index threads) {
  const Index tokens = corpus.tokens(), L = model.layout().labels();
  std::vector<double> out(tokens * L), log_partition(corpus.sentences());
  {
    const nb::gil_scoped_release released;
    model.marginals(CrfInput(model.layout(), corpus), threads, out.data(), log_partition.data());
  }
  return {nb::cast(reshape(std::move(out), tokens, L)), nb::cast(array(std::move(log_partition)))};
}

CrfKBest decode_kbest(const CrfModel& model, const learn::Corpus& corpus, Index sentence, Index k) {
  const Index T = corpus.sentence[sentence + 1] - corpus.sentence[sentence];
  std::vector<Index> labels(k * T);
  std::vector<double> log_probability(k);
  Index found = 1;  // a sentence without tokens has one label sequence, the empty one, with probability 1
  if (T > 0) {
    const nb::gil_scoped_release released;
    const CrfInput input(model.layout(), corpus, sentence, sentence + 1);
    found = model.best(input, 0, k, labels.data(), log_probability.data());
  }
  labels.resize(found * T);
  log_probability.resize(found);
  return {nb::cast(reshape(std::move(labels), found, T)), nb::cast(array(std::move(log_probability)))};
}

template <class Vocabulary>
learn::Corpus read_corpus(Vocabulary& vocabulary, const nb::iterable& sentences, const char* name) {
  CrfReader reader(vocabulary, name);
  for (nb::handle sentence : sentences) reader.read(sentence);
  return std::move(reader.corpus);
}

// From features to label names in one go: a list of lists.
nb::list predict(const CrfModel& model, const CrfVocabulary& vocabulary, const nb::iterable& sentences,
                 const nb::tuple& names, Index threads) {
  const learn::Corpus corpus = read_corpus(vocabulary, sentences, "X");
  const std::vector<Index> labels = decode_corpus(model, corpus, threads);
  nb::list out;
  for (Index s = 0; s < corpus.sentences(); ++s) {
    const Index first = corpus.sentence[s], length = corpus.sentence[s + 1] - first;
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
      .def_prop_ro("begin", [](const CrfVocabulary& v) { return nb::cast(array(std::vector<Index>(v.begin()))); })
      .def(
          "only",  // the names at these places, in their order
          [](const CrfVocabulary& v, Flat<const Index> at) {
            auto kept = std::make_unique<CrfVocabulary>();
            for (std::size_t n = 0; n < at.shape(0); ++n) kept->add(v.name(at(n)), CrfVocabulary::hash(v.name(at(n))));
            return kept.release();
          },
          "at"_a, nb::rv_policy::take_ownership)
      .def(
          "intern", [](CrfVocabulary& v, const nb::iterable& x, const char* name) { return read_corpus(v, x, name); },
          "sentences"_a, "name"_a = "X")
      .def(
          "lookup",
          [](const CrfVocabulary& v, const nb::iterable& x, const char* name) { return read_corpus(v, x, name); },
          "sentences"_a, "name"_a = "X");
}

void bind_crf_records(nb::module_& m) {
  define_arrays(nb::class_<CrfRows>(m, "CrfRows"), "begin", &CrfRows::begin, "label", &CrfRows::label, "weight",
                &CrfRows::weight);
  define_fields(nb::class_<CrfMarginals>(m, "CrfMarginals"), "probabilities", &CrfMarginals::probabilities,
                "log_partitions", &CrfMarginals::log_partitions);
  define_fields(nb::class_<CrfKBest>(m, "CrfKBest"), "labels", &CrfKBest::labels, "log_probabilities",
                &CrfKBest::log_probabilities);
}

void bind_model(nb::module_& m) {
  nb::class_<CrfModel>(m, "CrfModel")
      .def_static("of", &make_crf_model, "labels"_a, "begin"_a, "label"_a, "weight"_a, "transitions"_a,
                  nb::rv_policy::take_ownership)
      .def("rows", [](const CrfModel& self) { return CrfRows(self.layout(), self.weights().data()); })
      .def_prop_ro("transitions", &transitions)
      .def(
          "decode",
          [](const CrfModel& self, const learn::Corpus& corpus, Index threads) {
            return array(decode_corpus(self, corpus, threads));
          },
          "corpus"_a, "threads"_a)
      .def("emissions", &score_corpus, "corpus"_a, "threads"_a)
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
      .def("objective", &CrfTrainer::objective, "weights"_a, "gradient"_a, "c2"_a, "threads"_a, Unlocked())
      .def("model", &CrfTrainer::model, nb::rv_policy::take_ownership)
      .def("pair_rows", &CrfTrainer::pair_rows);
}

// An algorithm that sets the weights of a trainer; its options have the given types and names, in their order.
template <class... Fields, class Options, class... Names>
void bind_algorithm(nb::module_& m, const char* name,
                    std::unique_ptr<CrfPasses> (*make)(const CrfData&, const Options&, double*),
                    const Names&... names) {
  m.def(
      name,
      [make](CrfTrainer& trainer, Fields... fields) {
        trainer.check_plain();
        const nb::gil_scoped_release released;
        return make(trainer.data(), Options{fields...}, trainer.w()).release();
      },
      "trainer"_a, nb::kw_only(), names..., nb::keep_alive<0, 1>(), nb::rv_policy::take_ownership);
}

void bind_passes(nb::module_& m) {
  using Seed = std::uint64_t;
  nb::class_<CrfPasses>(m, "CrfPasses")
      .def("epoch", &CrfPasses::epoch, Unlocked())
      .def("finish", &CrfPasses::finish)
      .def_prop_ro("done", &CrfPasses::done)
      .def_ro("epochs", &CrfPasses::epochs);
  bind_algorithm<double, Index, double, double, double, Index, Index, Index, Seed>(
      m, "crf_l2sgd", &crf_l2sgd, "c2"_a, "period"_a, "delta"_a, "eta"_a, "rate"_a, "samples"_a, "candidates"_a,
      "max_trials"_a, "seed"_a);
  bind_algorithm<double, double, double, Seed>(m, "crf_sgd", &crf_sgd, "c1"_a, "eta"_a, "decay"_a, "seed"_a);
  bind_algorithm<double, Seed>(m, "crf_perceptron", &crf_perceptron, "epsilon"_a, "seed"_a);
  bind_algorithm<double, Seed, int, double, bool, bool>(m, "crf_passive_aggressive", &crf_passive_aggressive,
                                                        "epsilon"_a, "seed"_a, "type"_a, "c"_a, "error_sensitive"_a,
                                                        "averaging"_a);
  bind_algorithm<double, Seed, double, double>(m, "crf_arow", &crf_arow, "epsilon"_a, "seed"_a, "variance"_a,
                                               "gamma"_a);
}

}  // namespace

CrfRows::CrfRows(const CrfLayout& layout, const double* w) {
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

// The label of a pair (i, j) is count i + j, where count is the number of states or labels.
CrfRows CrfTrainer::pair_rows() const {
  CrfRows found(data_.pairs->layout, w_.data() + layout().size());
  const Index count = data_.pairs->count, W = data_.pairs->width;
  for (Label& column : found.label) column = static_cast<Label>(column / W * count + column % W);
  return found;
}

void bind_crf(nb::module_& m) {
  bind_vocabulary(m);
  bind_crf_records(m);
  bind_trainer(m);
  bind_passes(m);
  bind_model(m);
}

}  // namespace certus
