// The module: what every file of this folder binds.
#include <nanobind/nanobind.h>

#include "base/interrupt.hpp"
#include "base/lazy.hpp"

namespace certus {

using Binder = void(nanobind::module_& m);

Binder bind_align, bind_arc_cascade, bind_chain, bind_corpus, bind_crf, bind_crf_learners, bind_dependency,
    bind_dependency_parser, bind_factor_graph, bind_features, bind_hypergraph, bind_language_model, bind_latent,
    bind_lattices, bind_learners, bind_marginals, bind_paths, bind_refinement, bind_relax, bind_syntax, bind_tagger,
    bind_translate, bind_hierarchical;

// Python notes a signal and runs its handler when it is asked to.
static void ask_python() {
  const nanobind::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// Waits without Python's lock, which the awaited thread may need. Threads that Python does not know never hold it.
static void block_without_lock(void (*wait)(void*), void* context) {
  if (!PyGILState_GetThisThreadState()) return wait(context);
  const nanobind::gil_scoped_acquire held;  // released next, whether or not this thread held it before
  const nanobind::gil_scoped_release released;
  wait(context);
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
}

}  // namespace certus

NB_MODULE(_native, m) {
  using namespace certus;
  nanobind::set_leak_warnings(false);  // what an interpreter still holds when it ends is no news to its user
  interrupt::ask = &ask_python;
  lazy::block = &block_without_lock;
  bind_interrupt(m);
  bind_chain(m);  // first: others use its records
  for (Binder* bind : {bind_align,       bind_corpus,         bind_dependency, bind_arc_cascade, bind_dependency_parser,
                       bind_features,    bind_language_model, bind_learners,   bind_crf,         bind_crf_learners,
                       bind_hypergraph,  bind_latent,         bind_marginals,  bind_paths,       bind_refinement,
                       bind_syntax,      bind_relax,          bind_tagger,     bind_lattices,    bind_translate,
                       bind_hierarchical})
    bind(m);
}
