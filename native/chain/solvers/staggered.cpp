// Staggered decoding: Kaji et al. 2010, section 3.
//
// Departures: those of degenerate_lattice.hpp; and, because the path behind the lower bound is kept, the search
// also ends when the best degenerate path does not exceed it. Where paths tie, the paper's criterion alone (a best
// path without degenerate labels) would go on until every tied degenerate path is expanded.
#include "chain/method.hpp"
#include "chain/search/best_paths.hpp"
#include "chain/search/degenerate_lattice.hpp"
#include "chain/search/degenerate_paths.hpp"

namespace certus {

CERTUS_SOLVER(staggered) {
  BestPaths<Tr> paths(trellis, 1, arena);
  Index* path = arena.get<Index>(trellis.length);
  if (follow_best(trellis, path, answer.counters, arena)) paths.add(path);
  DegenerateLattice<Tr> degenerate(trellis, 0, answer.counters, arena);
  DegeneratePaths<Tr> search(degenerate, request.columnwise, arena);
  for (bool forward = true;; forward = !forward) {
    const double most = forward ? degenerate.forward(paths.bound()) : degenerate.backward(paths.bound());
    if (most == kNever<double>) break;
    search.add_active(1, paths);
    if (most <= paths.bound() || search.best_is_active()) break;
    search.expand(paths.bound());
  }
  paths.write(answer);
}

CERTUS_REGISTER_MATRICES(staggered, "staggered")

}  // namespace certus
