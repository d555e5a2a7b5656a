// The default method: exact, and as near as possible to reading each emission once.
//
// Beyond Kaji et al. 2010 and Huang et al. 2012: labels are chosen at each position by their score there, not in
// one order for all; the labels left out are bounded after the transitions from the labels kept, not before; and
// when the bound does not meet the best path, it tells exactly which labels can still matter, instead of doubling.
#include "pruned.hpp"

namespace certus {
namespace {

inline constexpr Index kSmall = 64;  // labels below which the dense sweep is faster
inline constexpr double kMargin = 0, kMarginMany = -2, kSpread = 6;  // found by trial; any value is correct
inline constexpr Index kFew = 8;  // kept labels of a position among which k > 1 paths are looked for first

// The sweep to the right may do this share of the dense sweep's work before it is given up.
inline Width width_for(Index k, Index L, Index T) {
  return {k == 1 ? kMargin : kMarginMany, k == 1 ? 0.0 : kSpread, std::max<Index>(8 * T, T * L / 16)};
}

template <class Tr>
void whole(const Lattice<Tr>& lattice, const Request& request, Answer& answer, Arena& arena) {
  answer.found = 0;
  if (request.k > 1) return viterbi_astar(lattice, request, answer, arena);
  if (request.defer) answer.deferred = true;
  else viterbi(lattice, request, answer, arena);
}

// Whether any score is NaN or +inf, for lattices that are not swept to the end.
template <class Tr>
bool bad(const Lattice<Tr>& lattice) {
  for (Index t = 0; t < lattice.length; ++t)
    if (first_invalid(lattice.data + t * lattice.stride, lattice.labels) >= 0) return true;
  return false;
}

// Writes the k best paths of some columns; returns the score of the last, or -inf if there are fewer.
double list(const ColumnPaths& columns, Index k, Answer& answer) {
  NextBest paths(columns);
  double last = kNever<double>;
  for (answer.found = 0; answer.found < k; ++answer.found) {
    last = paths.remaining();
    if (!paths.next(answer.labels + answer.found * columns.positions)) return kNever<double>;
  }
  answer.counters.expanded += paths.taken;
  return last;
}

// What the sweep to the left may find: each label that matters costs a row of transitions, and in the end every
// pair of neighbours is looked at.
template <class Tr>
bool narrow(Pruned<Tr>& pruned, double known, Index T, Index L) {
  return pruned.left(known, std::max<Index>(16, L / 3), std::max<Index>(2 * T, T * L / 12)) &&
         pruned.edges() <= T * L * L / 200;
}

template <class Tr>
bool solve_one(Pruned<Tr>& pruned, const Lattice<Tr>& lattice, Answer& answer) {
  const double known = pruned.trace_known(answer.labels);
  if (known == kNever<double>) return false;
  if (pruned.bound() > known) {
    if (!narrow(pruned, known, lattice.length, lattice.labels)) return false;
    pruned.trace_better(known, answer.labels);
  }
  answer.found = 1;
  return true;
}

template <class Tr>
bool solve_many(Pruned<Tr>& pruned, const Lattice<Tr>& lattice, Index k, Answer& answer) {
  const double known = list(pruned.kept_paths(kFew), k, answer);
  if (known == kNever<double> || !narrow(pruned, known, lattice.length, lattice.labels)) return false;
  return list(pruned.paths_that_matter(), k, answer) != kNever<double>;
}

}  // namespace

CERTUS_SOLVER(automatic) {
  const Index T = lattice.length, L = lattice.labels;
  if (L < kSmall || lattice.model->positions() > 0) {
    if (bad(lattice)) answer.status = Status::invalid;
    else whole(lattice, request, answer, arena);
    return;
  }
  Pruned<Tr> pruned(lattice, answer.counters, arena);
  switch (pruned.right(width_for(request.k, L, T))) {
    case Pruned<Tr>::Sweep::invalid:
      answer.status = Status::invalid;
      return;
    case Pruned<Tr>::Sweep::dead:
      if (bad(lattice)) answer.status = Status::invalid;
      return;
    case Pruned<Tr>::Sweep::lost:
      break;
    case Pruned<Tr>::Sweep::done:
      if (request.k == 1 ? solve_one(pruned, lattice, answer) : solve_many(pruned, lattice, request.k, answer)) return;
  }
  whole(lattice, request, answer, arena);
}

CERTUS_INSTANTIATE(automatic)

}  // namespace certus
