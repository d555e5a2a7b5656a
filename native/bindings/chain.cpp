// The seam between Python and the kernels: arrays in, arrays and numbers out. Shapes and types are checked
// in Python before anything comes here.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/arrays.hpp"

using namespace nb::literals;

namespace certus {

void bind_corpus(nb::module_& m);
void bind_features(nb::module_& m);
void bind_lattices(nb::module_& m);
void bind_learners(nb::module_& m);
void bind_crf(nb::module_& m);
void bind_crf_learners(nb::module_& m);
void bind_hypergraph(nb::module_& m);
void bind_latent(nb::module_& m);
void bind_marginals(nb::module_& m);
void bind_paths(nb::module_& m);
void bind_refinement(nb::module_& m);
void bind_syntax(nb::module_& m);
void bind_relax(nb::module_& m);
void bind_tagger(nb::module_& m);

namespace {

template <class S>
const S* data_or_null(const std::optional<Flat<const S>>& x) {
  return x ? x->data() : nullptr;
}

nb::tuple as_tuple(const Result& r, double score) {
  const Counters& c = r.counters;
  return nb::make_tuple(static_cast<int>(r.status), r.found, score, r.bound, r.position, c.iterations, c.activated,
                        c.pruned, c.edges, c.expanded);
}

// Letting other Python threads run costs a fraction of a microsecond: worth it from some work on.
struct Released {
  std::optional<nb::gil_scoped_release> release;
  explicit Released(bool wanted) {
    if (wanted) release.emplace();
  }
};

// Whether the kernels can take an array as it lies: one row of scores after the other.
template <class S>
bool plain(const Model<S>& model, const Matrix<S>& emissions) {
  const Index T = static_cast<Index>(emissions.shape(0)), L = model.labels();
  return static_cast<Index>(emissions.shape(1)) == L && (emissions.stride(1) == 1 || L == 1) && T > 0 &&
         (model.positions() == 0 || model.positions() == T - 1) &&
         reinterpret_cast<std::uintptr_t>(emissions.data()) % sizeof(S) == 0;
}

// The common case: one path, no options, and an array that needs no conversion; anything else gets None, and the
// caller has a closer look.
template <class S>
nb::object decode(const Model<S>& model, const Matrix<S>& emissions, Flat<Index> labels, Index method) {
  if (!plain(model, emissions) || labels.shape(0) != emissions.shape(0)) return nb::none();
  const Sentence<S> s = sentence<S>(emissions);
  double score = 0;
  Result result;
  {
    const Released released(s.length * model.labels() > 16384);
    result = run(model, method, s, Request{}, labels.data(), &score);
  }
  return as_tuple(result, score);
}

template <class S>
nb::tuple decode_with(const Model<S>& model, const Matrix<S>& emissions, Flat<Index> labels, Flat<double> scores,
                      Index method, const Request& request) {
  Result result;
  {
    const nb::gil_scoped_release released;
    result = run(model, method, sentence<S>(emissions), request, labels.data(), scores.data());
  }
  return as_tuple(result, scores.data()[0]);
}

// Whether every array of a list is plain.
template <class S>
bool takes(const Model<S>& model, const nb::list& emissions) {
  for (nb::handle h : emissions) {
    Matrix<S> x;
    if (!nb::try_cast(h, x, false) || !plain(model, x)) return false;
  }
  return true;
}

// labels is the concatenation of the sentences' [k][T]; results has a row of eight numbers a sentence.
template <class S>
void decode_many(const Model<S>& model, const nb::list& emissions, Flat<Index> labels, Flat<double> scores,
                 Flat<double> bounds, Flat<Index> results, Index method, const Request& request, Index threads) {
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
  std::vector<Result> each(sentences.size());
  {
    const nb::gil_scoped_release released;
    run_many(model, method, sentences, request, threads, into, scores.data(), each.data());
  }
  Index* row = results.data();
  for (std::size_t n = 0; n < each.size(); ++n, row += 8) {
    const Result& r = each[n];
    const Counters& c = r.counters;
    bounds.data()[n] = r.bound;
    const Index values[8] = {
        static_cast<Index>(r.status), r.found, r.position, c.iterations, c.activated, c.pruned, c.edges, c.expanded};
    std::copy_n(values, 8, row);
  }
}

template <class S>
void bind(nb::module_& m, const char* name) {
  using M = Model<S>;
  nb::class_<M>(m, name)
      .def(
          "__init__",
          [](M* self, Array<const S, nb::ndim<3>, nb::c_contig> matrices, bool shared,
             const std::optional<Flat<const S>>& start, const std::optional<Flat<const S>>& end) {
            new (self) M(matrices.data(), static_cast<Index>(matrices.shape(1)), static_cast<Index>(matrices.shape(0)),
                         shared, data_or_null<S>(start), data_or_null<S>(end));
          },
          "matrices"_a, "shared"_a, "start"_a.none(), "end"_a.none(), nb::keep_alive<1, 2>())
      .def(
          "__init__",
          [](M* self, Index labels, S fallback, Flat<const Index> from, Flat<const Index> to, Flat<const S> score,
             const std::optional<Flat<const S>>& start, const std::optional<Flat<const S>>& end) {
            new (self) M(labels, fallback, from.data(), to.data(), score.data(), static_cast<Index>(from.shape(0)),
                         data_or_null<S>(start), data_or_null<S>(end));
          },
          "labels"_a, "fallback"_a, "origin"_a, "target"_a, "score"_a, "start"_a.none(), "end"_a.none())
      .def("rank",
           [](M& self, Flat<const Index> order) { self.order.assign(order.data(), order.data() + order.shape(0)); })
      .def("decode", &decode<S>, "emissions"_a.noconvert(), "labels"_a.noconvert(), "method"_a)
      .def("decode_with", &decode_with<S>, "emissions"_a.noconvert(), "labels"_a.noconvert(), "scores"_a.noconvert(),
           "method"_a, "request"_a)
      .def("decode_many", &decode_many<S>)
      .def("takes", &takes<S>);
}

}  // namespace
}  // namespace certus

NB_MODULE(_native, m) {
  using namespace certus;
  nb::class_<Request>(m, "Request")
      .def(
          "__init__",
          [](Request* self, Index k, Index width, Index heuristic, bool columnwise, bool sparse) {
            new (self) Request{k, width, heuristic, false, sparse, columnwise};
          },
          nb::kw_only(), "k"_a = 1, "width"_a = Request{}.width, "heuristic"_a = Request{}.heuristic,
          "columnwise"_a = Request{}.columnwise, "sparse"_a = Request{}.sparse);
  bind<float>(m, "Model32");
  bind<double>(m, "Model64");
  bind_corpus(m);
  bind_features(m);
  bind_learners(m);
  bind_crf(m);
  bind_crf_learners(m);
  bind_hypergraph(m);
  bind_latent(m);
  bind_marginals(m);
  bind_paths(m);
  bind_refinement(m);
  bind_syntax(m);
  bind_relax(m);
  bind_tagger(m);
  bind_lattices(m);
  nb::list methods;
  for (const std::string_view name : kMethods) methods.append(nb::str(name.data(), name.size()));
  m.attr("METHODS") = nb::tuple(methods);
}
