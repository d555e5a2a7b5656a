// The learners of taggers, and what they keep between epochs: arrays in, arrays out.
#include "learn/compile.hpp"
#include "learn/perceptron.hpp"
#include "learn/pruned_crf.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/state.hpp"
#include "bindings/vectors.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace learn;
using scoring::Thresholds;

Corpus corpus_of(Flat<const Key> keys, Flat<const std::uint64_t> ends, Flat<const Index> lengths,
                 Flat<const Label> labels, Index least) {
  std::uint64_t last = 0, tokens = 0;
  for (std::size_t t = 0; t < ends.shape(0); ++t) {
    if (ends.data()[t] < last) refuse("ends must not fall: at token " + std::to_string(t));
    last = ends.data()[t];
  }
  if (last != keys.shape(0)) refuse("the last of ends must be the number of keys");
  for (std::size_t n = 0; n < lengths.shape(0); ++n) {
    const Index length = lengths.data()[n];
    if (length < 0 || static_cast<std::uint64_t>(length) > ends.shape(0) - tokens)
      refuse("lengths must be the tokens of each sentence, and add up to those of ends");
    tokens += static_cast<std::uint64_t>(length);
  }
  if (tokens != ends.shape(0) || labels.shape(0) != ends.shape(0))
    refuse("lengths must add up to the tokens of ends, and there must be one label per token");
  for (std::size_t t = 0; t < labels.shape(0); ++t)
    if (labels.data()[t] < 0) refuse("label " + std::to_string(labels.data()[t]) + " at token " + std::to_string(t));
  const nb::gil_scoped_release released;
  return number_features(keys.data(), ends.data(), extent(ends), lengths.data(), extent(lengths), labels.data(), least);
}

// Sentences whose features have numbers already, as Python has checked them.
void make_tag_corpus(Corpus* self, Flat<const Index> sentence, Flat<const Index> token, Flat<const Feature> features,
                     const std::optional<Flat<const double>>& values) {
  new (self) Corpus();
  self->sentence = copy(sentence);
  self->token = copy(token);
  self->features = copy(features);
  if (values) self->values.assign(values->data(), values->data() + values->shape(0));
}

// A vector of a corpus as a read-only array, which keeps the corpus alive.
template <class X>
auto view(const Corpus& self, const std::vector<X>& values) {
  return nb::ndarray<nb::numpy, const X, nb::ndim<1>>(values.data(), {values.size()}, nb::find(self));
}

nb::dict compiled(CompiledTable&& table) {
  nb::dict out;
  out["slots"] = array(std::move(table.slots));
  out["rows"] = array(std::move(table.rows));
  out["step"] = table.step;
  out["features"] = table.features;
  out["weights"] = table.entries;
  return out;
}

// The table of weights that were learned elsewhere: row f holds unit[begin[f]] .. and their weights.
nb::dict compile_rows(const Corpus& corpus, Index units, Flat<const Index> begin, Flat<const Label> unit,
                      Flat<const double> weight, float least) {
  const Index features = corpus.feature_count();
  if (extent(begin) != features + 1 || begin.data()[features] != extent(unit) || unit.shape(0) != weight.shape(0))
    refuse("the rows of weights are not those of this corpus");
  Rows rows(features, units);
  for (Feature f = 0; f < features; ++f)
    for (Index i = begin.data()[f]; i < begin.data()[f + 1]; ++i) {
      if (unit.data()[i] < 0 || unit.data()[i] >= units) refuse("a weight is of a unit that does not exist");
      rows.append(f, static_cast<Unit>(unit.data()[i]), static_cast<float>(weight.data()[i]), 0);
    }
  return compiled(compile(rows, corpus.feature_keys, units, least, [](float w, float) { return w; }));
}

// Sequences of labels that have a weight, in a table of the right size.
template <class Value>
void put_ngrams(nb::dict& out, const Ngrams& ngrams, float least, const Value& value) {
  Ngrams kept;
  ngrams.each([&](Key key, float weight, float memory) {
    const float w = value(weight, memory);
    if (w != 0 && std::abs(w) >= least) *kept.entry(key).weight = w;
  });
  out["ngram_keys"] = array(std::vector<Key>(kept.keys()));
  out["ngram_weights"] = array(std::vector<float>(kept.weights()));
}

// What the keys stand for, a row of order + 1 numbers for each, by key.
template <class Number>
std::vector<Number> list_sequences(const PrunedCrf& self, const std::vector<Key>& keys) {
  std::vector<Number> out;
  const std::size_t width = static_cast<std::size_t>(self.options.order) + 1;
  for (const Key key : keys) {
    const Sequence& row = self.sequences.at(key);
    for (std::size_t i = row.size() - width; i < row.size(); ++i) out.push_back(static_cast<Number>(row[i]));
  }
  return out;
}

template <class Value>
void put_sequences(nb::dict& out, const PrunedCrf& self, float least, const Value& value) {
  std::vector<Key> keys;
  self.ngrams.each([&](Key key, float weight, float memory) {
    const float w = value(weight, memory);
    if (w != 0 && std::abs(w) >= least) keys.push_back(key);
  });
  if (self.code().nothing() < 0x10000) out["ngram_sequences"] = array(list_sequences<std::uint16_t>(self, keys));
  else out["ngram_sequences"] = array(list_sequences<std::uint32_t>(self, keys));
}

void put_rows(nb::dict& out, const Rows& rows, const std::string& prefix = "row_") {
  std::vector<std::uint32_t> sizes, units;
  std::vector<float> weights, memories;
  for (Feature f = 0; f < rows.features(); ++f) {
    sizes.push_back(rows.row(f).size);
    rows.each(f, [&](Unit unit, float weight, float memory) {
      units.push_back(unit);
      weights.push_back(weight);
      memories.push_back(memory);
    });
  }
  out[(prefix + "sizes").c_str()] = array(std::move(sizes));
  out[(prefix + "units").c_str()] = array(std::move(units));
  out[(prefix + "weights").c_str()] = array(std::move(weights));
  out[(prefix + "memories").c_str()] = array(std::move(memories));
}
void put_table(nb::dict& out, const Ngrams& ngrams) {
  std::vector<Key> keys;
  std::vector<float> weights, memories;
  ngrams.each([&](Key key, float weight, float memory) {
    keys.push_back(key);
    weights.push_back(weight);
    memories.push_back(memory);
  });
  out["ngram_keys"] = array(std::move(keys));
  out["ngram_weights"] = array(std::move(weights));
  out["ngram_memories"] = array(std::move(memories));
}

void get_rows(const nb::dict& state, Rows& rows, Index unit_count, const std::string& prefix = "row_") {
  const auto name = [&](const char* what) { return prefix + what; };
  const auto sizes = get<std::uint32_t>(state, name("sizes").c_str(), rows.features());
  Index total = 0;
  for (std::size_t f = 0; f < sizes.shape(0); ++f) total += sizes.data()[f];
  const auto units = get<std::uint32_t>(state, name("units").c_str(), total);
  const auto weights = get<float>(state, name("weights").c_str(), total);
  const auto memories = get<float>(state, name("memories").c_str(), total);
  for (Index i = 0; i < total; ++i)
    if (units.data()[i] >= static_cast<Unit>(unit_count)) refuse(kOther);
  rows.clear();
  std::size_t i = 0;
  for (Feature f = 0; f < sizes.shape(0); ++f)
    for (const std::size_t end = i + sizes.data()[f]; i < end; ++i)
      rows.append(f, units.data()[i], weights.data()[i], memories.data()[i]);
}
void get_table(const nb::dict& state, Ngrams& ngrams, Key most) {
  const auto keys = get<Key>(state, "ngram_keys");
  const Index size = extent(keys);
  const auto weights = get<float>(state, "ngram_weights", size), memories = get<float>(state, "ngram_memories", size);
  for (Index i = 0; i < size; ++i)
    if (keys.data()[i] == 0 || keys.data()[i] > most) refuse(kOther);
  ngrams.clear();
  for (Index i = 0; i < size; ++i) {
    const Ngrams::Entry entry = ngrams.entry(keys.data()[i]);
    *entry.weight = weights.data()[i];
    *entry.memory = memories.data()[i];
  }
}

void check_labels(const Corpus& corpus, const Tagset& tagset) {
  for (std::size_t t = 0; t < corpus.labels.size(); ++t)
    if (corpus.labels[t] >= tagset.labels)
      refuse("label " + std::to_string(corpus.labels[t]) + " at token " + std::to_string(t) + " is not one of the " +
             std::to_string(tagset.labels) + " labels");
}
void check_features(const Corpus& corpus, const Rows& rows) {
  if (corpus.feature_count() != rows.features()) refuse("the learner was trained on another corpus");
}

// A weight averaged over all steps: what the memory holds was added too early.
auto average_over(Index steps) {
  const float count = static_cast<float>(std::max<Index>(steps, 1));
  return [count](float weight, float memory) { return weight - memory / count; };
}

nb::dict compile_crf(PrunedCrf& self, const Corpus& corpus, float least) {
  check_features(corpus, self.rows);
  const bool averaged = self.options.l1 == 0;
  const auto mean = average_over(self.steps - self.burn_in);
  const auto value = [&](float w, float m) { return averaged ? mean(w, m) : w; };
  nb::dict out = compiled(compile(self.rows, corpus.feature_keys, self.cascade.tagset().units, least, value));
  put_ngrams(out, self.ngrams, least, value);
  put_sequences(out, self, least, value);
  const Thresholds& t = self.cascade.thresholds;
  std::vector<float> thresholds{t.groups};
  thresholds.insert(thresholds.end(), t.states, t.states + self.options.order);
  out["thresholds"] = array(std::move(thresholds));
  return out;
}

Numbers numbers_of(PrunedCrf& self) {
  Thresholds& t = self.cascade.thresholds;
  return Numbers(self.options.order, self.epochs, self.steps, self.burn_in, self.penalty, self.positions,
                 self.cascade.groups_kept, t.groups, t.states, self.kept, self.seen);
}

nb::dict crf_state(PrunedCrf& self) {
  nb::dict out;
  put_rows(out, self.rows);
  put_table(out, self.ngrams);
  std::vector<Key> keys;
  self.ngrams.each([&](Key key, float, float) { keys.push_back(key); });
  out["ngram_sequences"] = array(list_sequences<std::uint32_t>(self, keys));
  out["numbers"] = numbers_of(self).write();
  return out;
}
void get_sequences(const nb::dict& state, PrunedCrf& self) {
  const auto keys = get<Key>(state, "ngram_keys");
  const Index width = self.options.order + 1, size = extent(keys);
  const auto numbers = get<std::uint32_t>(state, "ngram_sequences", size * width);
  self.sequences.clear();
  for (Index i = 0; i < size; ++i) {
    const std::uint32_t* const row = numbers.data() + i * width;
    if (self.code().find_key(row, width) != keys.data()[i]) refuse(kOther);
    Sequence& sequence = self.sequences[keys.data()[i]];
    sequence.fill(self.code().nothing());
    std::copy_n(row, width, sequence.end() - width);
  }
}
void restore_crf(PrunedCrf& self, const nb::dict& state) {
  const Numbers numbers = numbers_of(self);
  const auto found = numbers.find(state);
  if (found.data()[0] != static_cast<double>(self.options.order)) refuse(kOther);
  get_rows(state, self.rows, self.cascade.tagset().units);
  get_table(state, self.ngrams, ~Key{0});
  get_sequences(state, self);
  numbers.restore(found);
}

template <class Learner>
auto run_epoch(Learner& self, Flat<const Index> order) {
  check_order(order, self.corpus().sentences());
  const nb::gil_scoped_release released;
  return self.epoch(order.data(), extent(order));
}

nb::dict compile_perceptron(const Perceptron& self, const Corpus& corpus, const Tagset& tagset, float least,
                            const Corpus* pairs) {
  check_features(corpus, self.rows);
  if (self.pairs.has_value() != (pairs != nullptr)) refuse("the learner was trained on another corpus");
  if (pairs) check_features(*pairs, self.pairs->rows);
  if (tagset.labels != self.tagset().labels || tagset.units != self.tagset().units)
    refuse("the learner was trained with another tag set");
  const auto mean = average_over(self.steps - self.burn_in);
  nb::dict out = compiled(compile(self.rows, corpus.feature_keys, tagset.units, least, mean));
  std::vector<Index> from, to;
  std::vector<float> score;
  self.transitions.each([&](Key key, float weight, float memory) {
    const float w = mean(weight, memory);
    if (w == 0) return;
    from.push_back(static_cast<Index>((key - 1) / static_cast<Key>(tagset.labels + 1)));
    to.push_back(static_cast<Index>((key - 1) % static_cast<Key>(tagset.labels + 1)));
    score.push_back(w);
  });
  out["transition_from"] = array(std::move(from));
  out["transition_to"] = array(std::move(to));
  out["transition_score"] = array(std::move(score));
  if (!pairs) return out;
  nb::dict more = compiled(compile(self.pairs->rows, pairs->feature_keys, self.pairs->pairs(), least, mean));
  for (const auto& [name, value] : more) out[nb::str("pair_") + name] = value;
  return out;
}

Numbers numbers_of(Perceptron& self) { return Numbers(self.epochs, self.steps, self.burn_in); }

nb::dict perceptron_state(Perceptron& self) {
  nb::dict out;
  put_rows(out, self.rows);
  if (self.pairs) put_rows(out, self.pairs->rows, "pair_row_");
  put_table(out, self.transitions);
  out["numbers"] = numbers_of(self).write();
  return out;
}
void restore_perceptron(Perceptron& self, const nb::dict& state) {
  const Numbers numbers = numbers_of(self);
  const auto found = numbers.find(state);
  const Key width = static_cast<Key>(self.tagset().labels) + 1;
  get_rows(state, self.rows, self.tagset().units);
  if (self.pairs) get_rows(state, self.pairs->rows, self.pairs->pairs(), "pair_row_");
  Ngrams transitions;
  get_table(state, transitions, width * width - 1);  // the last would be an empty sentence
  numbers.restore(found);
  self.replace(std::move(transitions));
}

void make_tagset(Tagset* self, Table<const std::int32_t> parts, Index groups, Index units) {
  if (parts.shape(0) == 0) refuse("there are no labels");
  if (groups < 1 || units < groups) refuse("there must be a coarse tag, and every coarse tag is a unit");
  try {
    new (self) Tagset(parts.data(), extent(parts), extent(parts, 1), groups, units);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

void make_crf(PrunedCrf* self, const Corpus& corpus, const Tagset& tagset, Index order, float rate, float decay,
              float l1, Index burn_in, float least, const std::vector<float>& wanted) {
  if (order < 1 || order > kMostOrder)
    refuse("order must be between 1 and " + std::to_string(kMostOrder) + ", not " + std::to_string(order));
  if (!(rate > 0) || !std::isfinite(rate)) refuse("rate must be a positive number");
  if (!(decay >= 0) || !(l1 >= 0) || !(least >= 0) || burn_in < 0)
    refuse("decay, l1, burn_in and least must not be negative");
  if (wanted.empty()) refuse("wanted must say how many coarse tags to keep, then how many states of each order");
  check_labels(corpus, tagset);
  PrunedCrfOptions options{order, rate, decay, l1, burn_in, least, wanted[0]};
  for (Index n = 0; n < kMostOrder; ++n) options.wanted[n] = wanted[std::min<std::size_t>(n + 1, wanted.size() - 1)];
  new (self) PrunedCrf(corpus, tagset, options);
}

// What staggered decoding prunes by, or None with other decoders.
nb::object degenerate_labels(const Perceptron& self) {
  const DegenerateTables<float>* const tables = self.degenerate();
  if (!tables) return nb::none();
  nb::dict out;
  out["order"] = array(std::vector<Label>(tables->order));
  out["leave"] = array(std::vector<float>(tables->leave));
  out["enter"] = array(std::vector<float>(tables->enter));
  out["between"] = array(std::vector<float>(tables->between));
  return out;
}

// It keeps a score for every pair of labels, twice.
constexpr Index kMostBytes = Index{4} << 30;

// With features of pairs, also one for every step of a sentence.
void check_pairs(const Corpus& corpus, const Corpus& pairs, const Tagset& tagset) {
  if (pairs.sentence != corpus.sentence) refuse("the features of pairs are of other sentences than the others");
  Index longest = 0;
  for (Index n = 0; n < corpus.sentences(); ++n)
    longest = std::max<Index>(longest, corpus.sentence[n + 1] - corpus.sentence[n]);
  if (tagset.labels * longest > kMostBytes / (tagset.labels * static_cast<Index>(sizeof(float))))
    refuse("with features of pairs, every step of a sentence has a score for every pair of labels: " +
           std::to_string(tagset.labels) + " labels and sentences of " + std::to_string(longest) +
           " tokens are too many; leave out the templates that begin with pair");
}

void make_perceptron(Perceptron* self, const Corpus& corpus, const Tagset& tagset, Index number, const Corpus* pairs) {
  const Method& method = all_methods().at(number);
  constexpr std::string_view kDecoders[] = {"auto", "carpediem", "staggered", "viterbi"};
  if (std::find(std::begin(kDecoders), std::end(kDecoders), method.name) == std::end(kDecoders))
    refuse("while weights change, only \"auto\", \"carpediem\", \"staggered\" and \"viterbi\" decode");
  if (tagset.labels > kMostBytes / (tagset.labels * static_cast<Index>(sizeof(float))))
    refuse("the perceptron keeps a score for every pair of labels, and " + std::to_string(tagset.labels) +
           " labels have too many: train a pruned CRF instead");
  check_labels(corpus, tagset);
  if (pairs) check_pairs(corpus, *pairs, tagset);
  new (self) Perceptron(corpus, tagset, method, pairs);
}

}  // namespace

void bind_learners(nb::module_& m) {
  nb::class_<Corpus>(m, "Corpus")
      .def_prop_ro("sentences", &Corpus::sentences)
      .def_prop_ro("tokens", &Corpus::tokens)
      .def_prop_ro("features", &Corpus::feature_count)
      .def_prop_ro("occurrences", [](const Corpus& self) { return self.features.size(); })
      .def("__init__", &make_tag_corpus, "sentence_begin"_a, "token_begin"_a, "features"_a, "values"_a.none())
      .def_prop_ro("sentence_begin", [](const Corpus& self) { return view(self, self.sentence); })
      .def_prop_ro("token_begin", [](const Corpus& self) { return view(self, self.token); })
      .def_prop_ro("numbers", [](const Corpus& self) { return view(self, self.features); })
      .def_prop_ro("values", [](const Corpus& self) {
        return self.values.empty() ? nb::none() : nb::cast(view(self, self.values));
      });
  m.def("compile_rows", &compile_rows, "corpus"_a, "units"_a, "begin"_a, "unit"_a, "weight"_a, "least"_a);
  m.def("number_features", &corpus_of, "keys"_a, "ends"_a, "lengths"_a, "labels"_a, "least"_a);
  nb::class_<Tagset>(m, "Tagset")
      .def("__init__", &make_tagset, "parts"_a, "groups"_a, "units"_a)
      .def_ro("labels", &Tagset::labels)
      .def_ro("groups", &Tagset::groups)
      .def_ro("units", &Tagset::units);
  nb::class_<PrunedCrfEpoch>(m, "PrunedCrfEpoch")
      .def_ro("loss", &PrunedCrfEpoch::loss)
      .def_prop_ro("updates", [](const PrunedCrfEpoch& self) { return nb::tuple(nb::cast(self.updates())); })
      .def_prop_ro("kept", [](const PrunedCrfEpoch& self) { return nb::tuple(nb::cast(self.kept())); });
  nb::class_<PrunedCrf>(m, "PrunedCrf")
      .def("__init__", &make_crf, "corpus"_a, "tagset"_a, nb::kw_only(), "order"_a, "rate"_a, "decay"_a, "l1"_a,
           "burn_in"_a, "least"_a, "wanted"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("epoch", &run_epoch<PrunedCrf>, "order"_a)
      .def("compile", &compile_crf, "corpus"_a, "least"_a)
      .def("state", &crf_state)
      .def("restore", &restore_crf, "state"_a)
      .def_rw("keep_gold", &PrunedCrf::keep_gold)
      .def_ro("epochs", &PrunedCrf::epochs);
  define_fields(nb::class_<PerceptronEpoch>(m, "PerceptronEpoch"), "errors", &PerceptronEpoch::errors, "wrong",
                &PerceptronEpoch::wrong);
  nb::class_<Perceptron>(m, "Perceptron")
      .def("__init__", &make_perceptron, "corpus"_a, "tagset"_a, "method"_a, "pairs"_a.none() = nb::none(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 5>())
      .def("epoch", &run_epoch<Perceptron>, "order"_a)
      .def("compile", &compile_perceptron, "corpus"_a, "tagset"_a, "least"_a, "pairs"_a.none() = nb::none())
      .def_rw("margin", &Perceptron::margin)
      .def_rw("burn_in_epochs", &Perceptron::burn_in_epochs)
      .def("degenerate_labels", &degenerate_labels)
      .def("state", &perceptron_state)
      .def("restore", &restore_perceptron, "state"_a)
      .def_ro("epochs", &Perceptron::epochs);
  m.attr("MOST_ORDER") = kMostOrder;
}

}  // namespace certus
