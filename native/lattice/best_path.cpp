#include "lattice/best_path.hpp"

namespace certus::lattice {

BestPath find_best_end(const Lattice& lattice, const PathMemory& memory) {
  const Index P = lattice.positions();
  const auto found = std::max_element(memory.best.begin() + lattice.begin[P - 1], memory.best.end());
  return {*found, static_cast<std::uint32_t>(found - memory.best.begin()), P};
}

BestPath find_best_path(const Lattice& lattice, PathMemory& memory, const Additions& additions, bool trace) {
  BestSteps steps(lattice, additions, memory, trace);
  const Index reached = run_forward(steps, lattice.positions());
  return reached < lattice.positions() ? BestPath{kNever<double>, 0, reached} : find_best_end(lattice, memory);
}

double find_best_through(const Lattice& lattice, PathMemory& memory, const Additions& additions) {
  BestSteps steps(lattice, additions, memory, false);
  const Index P = lattice.positions();
  if (run_forward(steps, P) < P) return kNever<double>;
  run_backward(steps, P);
  return find_best_end(lattice, memory).score;
}

void trace_labels(const Lattice& lattice, const PathMemory& memory, const BestPath& path, Label* labels) {
  const Index T = lattice.positions() - 2;
  trace_back(lattice, memory, path, [&](Index t, std::uint32_t s) {
    if (t > 0 && t <= T) labels[t - 1] = lattice.label[s];
  });
}

}  // namespace certus::lattice
