// A* for the best path through a search space (search_space.hpp): Huang et al. 2012, section 4.1, equation 8.
#pragma once

#include "chain/search/agenda.hpp"
#include "chain/search/search_space.hpp"

namespace certus {

// Writes the nodes of the best path, one per column; false when there is no path.
template <class Space>
bool best_first(const Space& space, Index* path, Counters& counters, Arena& arena) {
  using S = typename Space::S;
  const Arena::Scope scope(arena);
  const Index T = space.length();
  Index* first = arena.get<Index>(T + 1);  // nodes are numbered column by column
  Index widest = first[0] = 0;
  for (Index t = 0; t < T; ++t) {
    first[t + 1] = first[t] + space.size(t);
    widest = std::max(widest, space.size(t));
  }
  double* score = get_filled(first[T], kNever<double>, arena);  // the best known way to a node, with the node
  Label* from = arena.get<Label>(first[T]);                     // the node before, within its column
  Label* column = arena.get<Label>(first[T]);
  S* buffer = arena.get<S>(widest);
  Agenda agenda(first[T]);

  // A node that was taken is opened again where rounding had put a worse way to it before a better one.
  const auto improve = [&](Index t, Index j, double x, Index i) {
    const Index id = first[t] + j;
    const double promise = x + space.ahead(t, j);
    if (promise == kNever<double>) return;
    if (score[id] == kNever<double>) ++counters.activated;
    score[id] = x, from[id] = static_cast<Label>(i), column[id] = static_cast<Label>(t);
    agenda.raise(id, promise, t);
  };
  for (Index j = 0; j < space.size(0); ++j) improve(0, j, static_cast<double>(space.nodes(0)[j]), 0);
  Heed heed;
  while (!agenda.empty()) {
    const Index id = agenda.take(), t = column[id], i = id - first[t];
    ++counters.expanded;
    if (t == T - 1) {
      path[t] = i;
      for (Index s = t; s > 0; --s) path[s - 1] = from[first[s] + path[s]];
      return true;
    }
    const S* links = space.links(t, i, buffer);
    const auto* nodes = space.nodes(t + 1);
    const double* known = score + first[t + 1];
    const double before = score[id];
    const Index n = space.size(t + 1);
    counters.edges += n;
    heed(8 * n + 64);
    for (Index j = 0; j < n; ++j) {
      const double x = before + static_cast<double>(links[j]) + static_cast<double>(nodes[j]);
      if (x > known[j]) improve(t + 1, j, x, i);
    }
  }
  return false;
}

}  // namespace certus
