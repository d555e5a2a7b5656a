// The module: what every file of this folder binds.
#include <nanobind/nanobind.h>

#include "base/interrupt.hpp"

namespace certus {

void bind_chain(nanobind::module_& m);
void bind_corpus(nanobind::module_& m);
void bind_crf(nanobind::module_& m);
void bind_crf_learners(nanobind::module_& m);
void bind_factor_graph(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_hypergraph(nanobind::module_& m);
void bind_latent(nanobind::module_& m);
void bind_lattices(nanobind::module_& m);
void bind_learners(nanobind::module_& m);
void bind_marginals(nanobind::module_& m);
void bind_paths(nanobind::module_& m);
void bind_refinement(nanobind::module_& m);
void bind_relax(nanobind::module_& m);
void bind_syntax(nanobind::module_& m);
void bind_tagger(nanobind::module_& m);

// Python notes a signal and runs its handler when it is asked to.
static void ask_python() {
  const nanobind::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// Ends what threads of Python's own do here, which signals do not reach: a thread enters, and another one cancels.
struct Cancellation {
  std::atomic<bool> cancelled{false};
};

static void bind_interrupt(nanobind::module_& m) {
  nanobind::class_<Cancellation>(m, "Cancellation")
      .def(nanobind::init<>())
      .def("__enter__", [](const Cancellation& self) { interrupt::cancelled = &self.cancelled; })
      .def("__exit__", [](const Cancellation&, const nanobind::args&) { interrupt::cancelled = nullptr; })
      .def("cancel", [](Cancellation& self) { self.cancelled = true; });
  m.def("check_interrupt", &interrupt::look);
}

}  // namespace certus

NB_MODULE(_native, m) {
  using namespace certus;
  interrupt::ask = &ask_python;
  bind_interrupt(m);
  bind_chain(m);  // first: others use its records
  bind_corpus(m);
  bind_factor_graph(m);
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
}
