// The seam between Python and the kernels: arrays in, arrays and numbers out. Shapes and types are checked
// in Python before anything comes here.
#include <nanobind/stl/optional.h>

#include <optional>

#include "base/conclusion.hpp"
#include "bindings/sentence.hpp"

using namespace nb::literals;

namespace certus {

namespace {

template <class S>
const S* data_or_null(const std::optional<Flat<const S>>& x) {
  return x ? x->data() : nullptr;
}

// Whether the kernels can take an array as it lies: one row of scores after the other.
template <class S>
bool can_take(const Model<S>& model, const Matrix<S>& emissions) {
  const Index T = extent(emissions), L = model.labels();
  return extent(emissions, 1) == L && (emissions.stride(1) == 1 || L == 1) && T > 0 &&
         (model.positions() == 0 || model.positions() == T - 1) &&
         reinterpret_cast<std::uintptr_t>(emissions.data()) % sizeof(S) == 0;
}

// The common case: no options, an array that needs no conversion, and paths that are proven to be the best. Anything
// else gets None, and the caller has a closer look.
template <class S>
std::optional<Result> decode_plainly(const Model<S>& model, const Matrix<S>& emissions, Index* labels, double* scores,
                                     Index k, Index method) {
  if (!can_take(model, emissions)) return std::nullopt;
  const Sentence<S> s = sentence<S>(emissions);
  // Letting other Python threads run costs a fraction of a microsecond: worth it from some work on.
  std::optional<nb::gil_scoped_release> released;
  if (s.length * model.labels() > 16384) released.emplace();
  const Result result = run(model, all_methods()[method], s, Request{.k = k}, labels, scores);
  if (result.status != Status::optimal) return std::nullopt;
  return result;
}

template <class S>
std::optional<Result> decode_best(const Model<S>& model, const Matrix<S>& emissions, Flat<Index> labels, Index method) {
  double score = 0;
  if (extent(labels) != extent(emissions)) return std::nullopt;
  return decode_plainly(model, emissions, labels.data(), &score, 1, method);
}
// labels is [k][T] and scores [k].
template <class S>
std::optional<Result> decode_list(const Model<S>& model, const Matrix<S>& emissions, Table<Index> labels,
                                  Flat<double> scores, Index method) {
  if (extent(labels) != extent(scores) || extent(labels, 1) != extent(emissions)) return std::nullopt;
  return decode_plainly(model, emissions, labels.data(), scores.data(), extent(scores), method);
}

template <class S>
Result decode_with(const Model<S>& model, const Matrix<S>& emissions, Flat<Index> labels, Flat<double> scores,
                   Index method, const Request& request) {
  const nb::gil_scoped_release released;
  return run(model, all_methods()[method], sentence<S>(emissions), request, labels.data(), scores.data());
}

// Whether the kernels can take every array of a list as it lies.
template <class S>
bool can_take_all(const Model<S>& model, const nb::list& emissions) {
  for (nb::handle h : emissions) {
    Matrix<S> x;
    if (!nb::try_cast(h, x, false) || !can_take(model, x)) return false;
  }
  return true;
}

// labels is the concatenation of the sentences' [k][T]. Returns one record per sentence.
template <class S>
nb::list decode_many(const Model<S>& model, const nb::list& emissions, Flat<Index> labels, Flat<double> scores,
                     Index method, const Request& request, Index threads) {
  std::vector<Sentence<S>> sentences;
  std::vector<Matrix<S>> keep;
  std::vector<Index*> into;
  Index* place = labels.data();
  for (nb::handle h : emissions) {
    keep.push_back(nb::cast<Matrix<S>>(h));
    sentences.push_back(sentence<S>(keep.back()));
    into.push_back(place);
    place += request.k * sentences.back().length;
  }
  std::vector<Result> results(sentences.size());
  {
    const nb::gil_scoped_release released;
    run_many(model, all_methods()[method], sentences, request, threads, into, scores.data(), results.data());
  }
  nb::list records;
  for (const Result& result : results) records.append(result);
  return records;
}

template <class S>
void bind_chain_model(nb::module_& m, const char* name) {
  using M = Model<S>;
  nb::class_<M>(m, name)
      .def(
          "__init__",
          [](M* self, Array<const S, nb::ndim<3>, nb::c_contig> matrices, bool shared,
             const std::optional<Flat<const S>>& start, const std::optional<Flat<const S>>& end) {
            new (self) M(matrices.data(), extent(matrices, 1), extent(matrices), shared, data_or_null<S>(start),
                         data_or_null<S>(end));
          },
          "matrices"_a, "shared"_a, "start"_a.none(), "end"_a.none(), nb::keep_alive<1, 2>())
      .def(
          "__init__",
          [](M* self, Index labels, S fallback, Flat<const Index> from, Flat<const Index> to, Flat<const S> score,
             const std::optional<Flat<const S>>& start, const std::optional<Flat<const S>>& end) {
            new (self) M(labels, fallback, from.data(), to.data(), score.data(), extent(from), data_or_null<S>(start),
                         data_or_null<S>(end));
          },
          "labels"_a, "fallback"_a, "origin"_a, "target"_a, "score"_a, "start"_a.none(), "end"_a.none())
      .def("rank",
           [](M& self, Flat<const Index> order) { self.order.assign(order.data(), order.data() + order.shape(0)); })
      .def("decode", &decode_best<S>, "emissions"_a.noconvert(), "labels"_a.noconvert(), "method"_a)
      .def("decode_list", &decode_list<S>, "emissions"_a.noconvert(), "labels"_a.noconvert(), "scores"_a.noconvert(),
           "method"_a)
      .def("decode_with", &decode_with<S>, "emissions"_a.noconvert(), "labels"_a.noconvert(), "scores"_a.noconvert(),
           "method"_a, "request"_a)
      .def("decode_many", &decode_many<S>)
      .def(
          "count_paths",
          [](const M& self, const Matrix<S>& emissions) {
            const nb::gil_scoped_release released;
            return count_paths(self, sentence<S>(emissions));
          },
          "emissions"_a.noconvert(), "How many paths there are, at most.")
      .def(
          "check",
          [](const M& self, const Matrix<S>& emissions) { return check_scores<double>(sentence<S>(emissions), self); },
          "emissions"_a.noconvert(), "Whether the scores are numbers that can be added up in double precision.")
      .def("can_take_all", &can_take_all<S>);
}

struct CounterField {
  const char* name;
  Index Counters::* value;
};
constexpr CounterField kCounterFields[] = {{"iterations", &Counters::iterations},
                                           {"activated", &Counters::activated},
                                           {"pruned", &Counters::pruned},
                                           {"edges", &Counters::edges},
                                           {"expanded", &Counters::expanded}};

nb::dict as_dict(const Counters& counters) {
  nb::dict out;
  for (const CounterField& field : kCounterFields) out[field.name] = counters.*field.value;
  return out;
}

Counters as_counters(const nb::dict& values) {
  Counters counters;
  std::size_t known = 0;
  for (const CounterField& field : kCounterFields)
    if (values.contains(field.name)) counters.*field.value = nb::cast<Index>(values[field.name]), ++known;
  if (known < values.size()) throw nb::type_error("Counters got a name that is not one of its counters");
  return counters;
}

void bind_chain_records(nb::module_& m) {
  nb::enum_<Status>(m, "Status")
      .value("OPTIMAL", Status::optimal)
      .value("FEASIBLE", Status::feasible)
      .value("INFEASIBLE", Status::infeasible)
      .value("INVALID", Status::invalid);
  define_fields(nb::class_<Conclusion>(m, "Conclusion"), "status", &Conclusion::status, "bound", &Conclusion::bound);
  m.def("conclude", &conclude, "score"_a, "bound"_a, "allowance"_a);
  nb::class_<Counters> counters(m, "Counters");
  counters.def("__init__", [](Counters* self, const nb::kwargs& values) { new (self) Counters(as_counters(values)); });
  for (const CounterField& field : kCounterFields) counters.def_ro(field.name, field.value);
  counters.def_prop_ro("stats", &as_dict)
      .def("__getstate__", &as_dict)
      .def("__setstate__", [](Counters& self, const nb::dict& state) { new (&self) Counters(as_counters(state)); });
  nb::class_<Result> result(m, "Result");
  define_fields(result, "status", &Result::status, "found", &Result::found, "score", &Result::score, "bound",
                &Result::bound, "position", &Result::position, "label", &Result::label);
  result.def_prop_ro("optimal", [](const Result& self) { return self.status == Status::optimal; })
      .def_prop_ro("stats", [](const Result& self) { return as_dict(self.counters); })
      // A Solution that travels keeps its counters; the rest of the record it has in fields of its own.
      .def("__getstate__", [](const Result& self) { return as_dict(self.counters); })
      .def("__setstate__",
           [](Result& self, const nb::dict& state) { new (&self) Result{.counters = as_counters(state)}; });
  nb::class_<Request>(m, "Request")
      .def(
          "__init__",
          [](Request* self, Index k, Index width, Index heuristic, bool columnwise, bool sparse, bool first, bool ends,
             Index listed, double patience) {
            new (self) Request{k, width, heuristic, false, sparse, columnwise, first, ends, listed, patience};
          },
          nb::kw_only(), "k"_a = 1, "width"_a = Request{}.width, "heuristic"_a = Request{}.heuristic,
          "columnwise"_a = Request{}.columnwise, "sparse"_a = Request{}.sparse, "first"_a = Request{}.first,
          "ends"_a = Request{}.ends, "listed"_a = Request{}.listed, "patience"_a = Request{}.patience);
}

}  // namespace

void bind_chain(nb::module_& m) {
  bind_chain_records(m);
  bind_chain_model<float>(m, "Model32");
  bind_chain_model<double>(m, "Model64");
  nb::list names;
  for (const Method& method : all_methods()) names.append(nb::str(method.name.data(), method.name.size()));
  m.attr("METHODS") = nb::tuple(names);
}

}  // namespace certus
