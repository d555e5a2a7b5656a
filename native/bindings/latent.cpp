// Chains whose labels have latent states: many sentences in, arrays out.
#include <nanobind/stl/optional.h>

#include <optional>

#include "base/parallel.hpp"
#include "bindings/arrays.hpp"
#include "bindings/text.hpp"
#include "bindings/vectors.hpp"
#include "latent/inference.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace latent;

template <class X>
std::vector<X> copied(const Flat<const X>& x) {
  return {x.data(), x.data() + x.shape(0)};
}

// The sequences of all sentences, one after the other, and what else is known of each sentence.
struct Answers {
  explicit Answers(std::vector<Found>&& found) {
    for (Found& f : found) {
      counts.push_back(static_cast<Index>(f.log_probability.size()));
      labels.insert(labels.end(), f.labels.begin(), f.labels.end());
      log_probability.insert(log_probability.end(), f.log_probability.begin(), f.log_probability.end());
      numbers.insert(numbers.end(), {f.unseen, f.remaining, f.log_partition, f.gain});
      facts.insert(facts.end(), {static_cast<Index>(f.status), f.position, f.state, f.paths, f.sequences, f.expanded});
    }
  }

  std::vector<Index> counts;
  std::vector<Label> labels;
  std::vector<double> log_probability, numbers;
  std::vector<Index> facts;
};

// Scores of pairs, [tokens][H][H] of states or [tokens][L][L] of labels: row t is of the step into token t, so a
// sentence's first is of no step.
using PairArray = std::optional<nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>>;

Pairs pairs_of(const PairArray& pairs, const LatentModel& model, Index begin) {
  if (!pairs) return {};
  const Index count = static_cast<Index>(pairs->shape(1)), at = (begin + 1) * count * count;
  const bool of_labels = count != model.states();
  if (pairs->dtype() == nb::dtype<float>()) return {static_cast<const float*>(pairs->data()) + at, nullptr, of_labels};
  return {nullptr, static_cast<const double*>(pairs->data()) + at, of_labels};
}

void check(const PairArray& pairs, const LatentModel& model, std::size_t tokens) {
  if (!pairs) return;
  const std::size_t H = static_cast<std::size_t>(model.states()), L = static_cast<std::size_t>(model.labels());
  if (pairs->shape(0) != tokens || (pairs->shape(1) != H && pairs->shape(1) != L) || pairs->shape(1) != pairs->shape(2))
    refuse("pairs must have a row of states by states, or of labels by labels, for each token");
  if (pairs->dtype() != nb::dtype<float>() && pairs->dtype() != nb::dtype<double>())
    refuse("pairs must be of float32 or float64");
}

// What one(begin, T) finds of every sentence, without the lock.
template <class One>
Answers of_all(Flat<const Index> first, Index threads, const One& one) {
  const Index sentences = static_cast<Index>(first.shape(0)) - 1;
  const nb::gil_scoped_release released;
  std::vector<Found> found(sentences);
  parallel(sentences, threads, [&](Index n, Index) {
    const Index begin = first.data()[n];
    found[n] = one(begin, first.data()[n + 1] - begin);
  });
  return Answers(std::move(found));
}

nb::tuple infer_all(const LatentModel& model, Table<const double> emissions, Flat<const Index> first,
                    const PairArray& pairs, int inference, Index k, Index steps, bool bounded, bool all,
                    const Gain* gain, Index threads) {
  check(pairs, model, emissions.shape(0));
  const Wanted wanted{static_cast<Inference>(inference), k, steps, bounded, all, gain};
  Answers answers = of_all(first, threads, [&](Index begin, Index T) {
    return infer(model, emissions.data() + begin * model.states(), pairs_of(pairs, model, begin), T, wanted);
  });
  return nb::make_tuple(array(std::move(answers.counts)), array(std::move(answers.labels)),
                        array(std::move(answers.log_probability)), array(std::move(answers.numbers)),
                        array(std::move(answers.facts)));
}

nb::object marginals_of_all(const LatentModel& model, Table<const double> emissions, Flat<const Index> first,
                            const PairArray& pairs, Table<double> out, Index threads) {
  check(pairs, model, emissions.shape(0));
  Answers answers = of_all(first, threads, [&](Index begin, Index T) {
    return label_marginals(model, emissions.data() + begin * model.states(), pairs_of(pairs, model, begin), T,
                           out.data() + begin * model.labels());
  });
  return nb::make_tuple(array(std::move(answers.numbers)), array(std::move(answers.facts)));
}

}  // namespace

void bind_latent(nb::module_& m) {
  nb::class_<Gain>(m, "LatentGain")
      .def(nb::init<>())
      .def(
          "__init__",
          [](Gain* self, Flat<const std::uint8_t> ends, Flat<const std::uint8_t> begins, Flat<const Label> kind) {
            new (self) Gain(copied(ends), copied(begins), copied(kind));
          },
          "ends"_a, "begins"_a, "kind"_a);
  nb::class_<LatentModel>(m, "LatentModel")
      .def(
          "__init__",
          [](LatentModel* self, Table<const double> transitions, Flat<const Index> begin,
             const std::optional<Flat<const double>>& start, const std::optional<Flat<const double>>& end) {
            new (self) LatentModel(transitions.data(), copied(begin), start ? start->data() : nullptr,
                                   end ? end->data() : nullptr);
          },
          "transitions"_a, "begin"_a, "start"_a.none(), "end"_a.none())
      .def("infer", &infer_all, "emissions"_a, "first"_a, "pairs"_a.none(), nb::kw_only(), "inference"_a, "k"_a,
           "steps"_a, "bounded"_a, "all"_a, "gain"_a.none(), "threads"_a)
      .def("marginals", &marginals_of_all, "emissions"_a, "first"_a, "pairs"_a.none(), "out"_a, "threads"_a)
      .def(
          "log_probability",
          [](const LatentModel& self, Table<const double> emissions, const PairArray& pairs, Flat<const Label> labels) {
            check(pairs, self, emissions.shape(0));
            const nb::gil_scoped_release released;
            return log_probability(self, emissions.data(), pairs_of(pairs, self, 0),
                                   static_cast<Index>(emissions.shape(0)), labels.data());
          },
          "emissions"_a, "pairs"_a.none(), "labels"_a);
}

}  // namespace certus
