#include "learn/tagger.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "bindings/text.hpp"
#include <nanobind/stl/vector.h>

#include "bindings/vectors.hpp"
#include "parallel.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace learn;

// Sentences one after the other: labels [k][T] each, scores [k], bounds, confidences [T].
nb::tuple tag(const learn::Tagger& self, nb::handle sentences, Index k, bool confidence, Index threads) {
  const Texts texts(sentences, self.extractor().columns());
  const Index count = texts.size();
  std::vector<Index> first(count + 1, 0);
  for (Index n = 0; n < count; ++n) first[n + 1] = first[n] + texts.at(n).length;
  std::vector<Label> labels(first[count] * k);
  std::vector<double> scores(count * k, kNever<double>), bounds(count, 0.0), log_partitions(confidence ? count : 0);
  std::vector<float> confidences(confidence ? first[count] : 0);
  std::vector<Index> found(count, 0);
  std::vector<std::uint8_t> optimal(count, 0);
  {
    const nb::gil_scoped_release released;
    std::vector<std::unique_ptr<learn::Tagger::Workspace>> spaces;
    for (Index i = 0; i < threads; ++i) spaces.push_back(self.workspace());
    parallel(count, threads, [&](Index n, Index thread) {
      const features::Sentence sentence = texts.at(n);
      TagAnswer answer{0,
                       labels.data() + first[n] * k,
                       scores.data() + n * k,
                       &bounds[n],
                       confidence ? confidences.data() + first[n] : nullptr,
                       confidence ? &log_partitions[n] : nullptr};
      if (sentence.length == 0) {
        answer.found = 1, scores[n * k] = 0, answer.optimal = true;
      } else {
        self.tag(sentence, TagRequest{k, confidence, nullptr}, answer, *spaces[thread]);
      }
      found[n] = answer.found;
      optimal[n] = answer.optimal;
    });
  }
  return nb::make_tuple(array(std::move(labels)), array(std::move(found)), array(std::move(scores)),
                        array(std::move(bounds)), array(std::move(optimal)), array(std::move(confidences)),
                        array(std::move(log_partitions)));
}

void emissions(const learn::Tagger& self, nb::handle columns, Table<float> out) {
  const Cells cells(columns, self.extractor().columns());
  const auto workspace = self.workspace();
  self.emissions(cells.sentence(), out.data(), *workspace);
}

}  // namespace

void bind_tagger(nb::module_& m) {
  using Words = Flat<const std::uint32_t>;
  nb::class_<learn::Tagger>(m, "Tagger")
      .def(
          "__init__",
          [](learn::Tagger* self, const features::Extractor& extractor, const Tagset& tagset,
             Flat<const std::uint64_t> slots, Words rows, float step) {
            const auto unowned = [](const auto*) {};  // kept alive by Python
            const FeatureTable table{slots.data(), slots.shape(0) - 1, rows.data(), FeatureTable::needs_wide(tagset.units), tagset.units};
            new (self) learn::Tagger(std::shared_ptr<const features::Extractor>(&extractor, unowned),
                                     std::shared_ptr<const Tagset>(&tagset, unowned), table, step);
          },
          "extractor"_a, "tagset"_a, "slots"_a, "rows"_a, "step"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def(
          "use_chain",
          [](learn::Tagger& self, const Model<float>& chain) {
            self.use_chain(std::shared_ptr<const Model<float>>(&chain, [](const Model<float>*) {}));
          },
          "chain"_a, nb::keep_alive<1, 2>())
      .def(
          "use_cascade",
          [](learn::Tagger& self, Index order, Flat<const Key> keys, Flat<const float> weights,
             const std::vector<float>& thresholds) {
            Thresholds t;
            t.groups = thresholds.at(0);
            for (std::size_t n = 1; n < thresholds.size() && n <= std::size(t.states); ++n) t.states[n - 1] = thresholds[n];
            self.use_cascade(order, NgramTable{keys.data(), weights.data(), keys.shape(0) - 1}, t);
          },
          "order"_a, "keys"_a, "weights"_a, "thresholds"_a, nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
      .def("tag", &tag, "sentences"_a, nb::kw_only(), "k"_a = 1, "confidence"_a = false, "threads"_a = 1)
      .def("emissions", &emissions, "columns"_a, "out"_a);
}

}  // namespace certus
