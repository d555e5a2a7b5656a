// Chains whose labels have latent states: many sentences in, one record per sentence out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/text.hpp"
#include "bindings/vectors.hpp"
#include "latent/inference.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using namespace latent;

// Scores of pairs, [tokens][H][H] of states or [tokens][L][L] of labels.
using PairArray = std::optional<nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>>;

Pairs check_pair_scores(const PairArray& pairs, const LatentModel& model, std::size_t tokens) {
  if (!pairs) return {};
  const Index count = extent(*pairs, 1);
  if (pairs->shape(0) != tokens || (count != model.states() && count != model.labels()) ||
      pairs->shape(1) != pairs->shape(2))
    refuse("pairs must have a row of states by states, or of labels by labels, for each token");
  const bool of_labels = count != model.states();
  if (pairs->dtype() == nb::dtype<float>())
    return {static_cast<const float*>(pairs->data()), nullptr, count, of_labels};
  if (pairs->dtype() != nb::dtype<double>()) refuse("pairs must be of float32 or float64");
  return {nullptr, static_cast<const double*>(pairs->data()), count, of_labels};
}

LatentBatch check_batch(const LatentModel& model, const Table<const double>& emissions, const Flat<const Index>& first,
                        const PairArray& pairs) {
  return {emissions.data(), check_pair_scores(pairs, model, emissions.shape(0)), first.data(), extent(first) - 1};
}

std::vector<LatentAnswer> infer_batch(const LatentModel& model, Table<const double> emissions, Flat<const Index> first,
                                      const PairArray& pairs, const LatentRequest& request, Index threads) {
  const LatentBatch batch = check_batch(model, emissions, first, pairs);
  const nb::gil_scoped_release released;
  return infer_all(model, batch, request, threads);
}

std::vector<LatentAnswer> sum_batch(const LatentModel& model, Table<const double> emissions, Flat<const Index> first,
                                    const PairArray& pairs, Table<double> out, Index threads) {
  const LatentBatch batch = check_batch(model, emissions, first, pairs);
  const nb::gil_scoped_release released;
  return find_label_marginals(model, batch, out.data(), threads);
}

// An array that the record owns.
nb::ndarray<nb::numpy, const Label, nb::ndim<2>> labels_of(const LatentAnswer& answer) {
  const std::size_t count = answer.log_probability.size();
  return {answer.labels.data(), {count, count ? answer.labels.size() / count : 0}, nb::find(answer)};
}

void bind_latent_records(nb::module_& m) {
  nb::enum_<Inference>(m, "LatentInference")
      .value("LDI", Inference::ldi)
      .value("BHP", Inference::bhp)
      .value("BMP", Inference::bmp);
  nb::class_<LatentRequest>(m, "LatentRequest")
      .def(
          "__init__",
          [](LatentRequest* self, Inference inference, Index k, Index steps, bool bounded, double share, bool all,
             const Gain* gain) { new (self) LatentRequest{inference, k, steps, bounded, share, all, gain}; },
          nb::kw_only(), "inference"_a, "k"_a = 1, "steps"_a = 0, "bounded"_a = true, "share"_a = 1.0, "all"_a = false,
          "gain"_a.none() = nb::none(), nb::keep_alive<1, 8>())
      .def_rw("seconds", &LatentRequest::seconds);
  nb::class_<LatentAnswer> latent_answer(m, "LatentAnswer");
  define_fields(latent_answer, "status", &LatentAnswer::status, "position", &LatentAnswer::position, "state",
                &LatentAnswer::state, "unseen", &LatentAnswer::unseen, "allowance", &LatentAnswer::allowance,
                "remaining", &LatentAnswer::remaining, "log_partition", &LatentAnswer::log_partition, "gain",
                &LatentAnswer::gain, "stopped", &LatentAnswer::stopped, "paths", &LatentAnswer::paths, "sequences",
                &LatentAnswer::sequences, "expanded", &LatentAnswer::expanded);
  define_arrays(latent_answer, "log_probabilities", &LatentAnswer::log_probability);
  latent_answer.def_prop_ro("labels", &labels_of);
}

}  // namespace

void bind_latent(nb::module_& m) {
  bind_latent_records(m);
  nb::class_<Gain>(m, "LatentGain")
      .def(nb::init<>())
      .def(
          "__init__",
          [](Gain* self, Flat<const std::uint8_t> ends, Flat<const std::uint8_t> begins, Flat<const Label> kind) {
            new (self) Gain(copy(ends), copy(begins), copy(kind));
          },
          "ends"_a, "begins"_a, "kind"_a);
  nb::class_<LatentModel>(m, "LatentModel")
      .def(
          "__init__",
          [](LatentModel* self, Table<const double> transitions, Flat<const Index> begin,
             const std::optional<Flat<const double>>& start, const std::optional<Flat<const double>>& end) {
            new (self) LatentModel(transitions.data(), copy(begin), start ? start->data() : nullptr,
                                   end ? end->data() : nullptr);
          },
          "transitions"_a, "begin"_a, "start"_a.none(), "end"_a.none())
      .def("infer", &infer_batch, "emissions"_a, "first"_a, "pairs"_a.none(), "request"_a, "threads"_a)
      .def("marginals", &sum_batch, "emissions"_a, "first"_a, "pairs"_a.none(), "out"_a, "threads"_a)
      .def(
          "log_probability",
          [](const LatentModel& self, Table<const double> emissions, const PairArray& pairs, Flat<const Label> labels) {
            const Pairs own = check_pair_scores(pairs, self, emissions.shape(0)).into(1);
            const nb::gil_scoped_release released;
            return log_probability(self, emissions.data(), own, extent(emissions), labels.data());
          },
          "emissions"_a, "pairs"_a.none(), "labels"_a);
}

}  // namespace certus
