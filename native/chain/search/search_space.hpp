// What best-first search sees of a trellis: columns of nodes, the scores between them, and a bound on what is
// still to come. Two classes have this form:
//   Index length(), size(t)
//   const N* nodes(t)              the nodes' own scores
//   const S* links(t, i, buffer)   the scores of going from node i of column t to every node of column t + 1
//   double ahead(t, i)             no path scores more after it has left node i of column t
// Every `ahead` is monotone: ahead(t, i) >= link(t, i, j) + node(t + 1, j) + ahead(t + 1, j). So the score that a
// node is taken from the agenda with is final (but for rounding), and no node is opened twice.
#pragma once

#include <algorithm>
#include <cmath>

#include "chain/search/agenda.hpp"
#include "chain/search/degenerate_lattice.hpp"

namespace certus {

// ahead[t] = the sum of the largest node and transition scores after position t: Huang et al. 2012, equation 9.
template <class Tr>
double* naive_heuristic(const Trellis<Tr>& trellis, Arena& arena) {
  const Index T = trellis.length;
  const double across = largest_transition(*trellis.model);
  double* ahead = arena.get<double>(T, 0.0);
  Heed heed;
  for (Index t = T - 2; t >= 0; --t, heed(trellis.labels))
    ahead[t] = ahead[t + 1] + across + static_cast<double>(largest(trellis.node(t + 1), trellis.labels));
  return ahead;
}

// ahead[t][y] = the backward Viterbi score on the degenerate lattice with 2^level active labels per column: section
// 4.1. It is monotone because every score between degenerate labels is at least that between their members.
template <class Tr>
double* coarse_heuristic(const Trellis<Tr>& trellis, Index level, Counters& counters, Arena& arena) {
  const Index T = trellis.length, L = trellis.labels;
  double* ahead = get_filled(T * L, kNever<double>, arena);
  DegenerateLattice<Tr> degenerate(trellis, level, counters, arena);
  if (degenerate.backward(kNever<double>) == kNever<double>) return ahead;
  for (Index t = 0; t < T; ++t) {
    const auto& c = degenerate.column(t);
    double* row = ahead + t * L;
    if (c.rest)
      for (Index r = degenerate.tables().active(c.level); r < L; ++r)
        row[degenerate.tables().order[r]] = c.out[c.active];
    for (Index i = 0; i < c.active; ++i) row[c.label[i]] = c.out[i];
  }
  return ahead;
}

// The level of the coarse heuristic that serves trained models of 300 to 1,500 labels best: log2 L - 2.
inline Index choose_level(Index labels) {
  return std::max<Index>(0, std::lround(std::log2(static_cast<double>(labels))) - 2);
}

// The whole trellis; node i of a column is label i. `heuristic` is as in Request.
template <class Tr>
class FullSpace {
 public:
  using S = typename Tr::Score;
  FullSpace(const Trellis<Tr>& trellis, Index heuristic, Counters& counters, Arena& arena)
      : trellis_(trellis),
        ahead_(heuristic == -1 ? naive_heuristic(trellis, arena)
                               : coarse_heuristic(trellis, heuristic < 0 ? choose_level(trellis.labels) : heuristic,
                                                  counters, arena)),
        each_(heuristic == -1 ? 0 : 1) {}

  Index length() const { return trellis_.length; }
  Index size(Index) const { return trellis_.labels; }
  const S* nodes(Index t) const { return trellis_.node(t); }
  const S* links(Index t, Index i, S* buffer) const {
    return trellis_.transitions.row(t, static_cast<Label>(i), buffer);
  }
  double ahead(Index t, Index i) const { return ahead_[t * step_ + i * each_]; }

 private:
  const Trellis<Tr>& trellis_;
  const double* ahead_;  // [T] or [T][L]
  Index each_, step_ = each_ ? trellis_.labels : 1;
};

// A degenerate lattice with the naive heuristic, which is the same at all levels: a rest holds its largest scores.
template <class Tr>
class DegenerateSpace {
 public:
  using S = typename Tr::Score;
  DegenerateSpace(const DegenerateLattice<Tr>& trellis, const double* ahead) : trellis_(trellis), ahead_(ahead) {}

  Index length() const { return trellis_.length(); }
  Index size(Index t) const { return trellis_.column(t).size(); }
  const double* nodes(Index t) const { return trellis_.column(t).node; }
  const S* links(Index t, Index i, S* buffer) const { return trellis_.links(t, i, buffer); }
  double ahead(Index t, Index) const { return ahead_[t]; }

 private:
  const DegenerateLattice<Tr>& trellis_;
  const double* ahead_;  // [T]
};

}  // namespace certus
