// A* for the best path through a search space (search_space.hpp): Huang et al. 2012, section 4.1, equation 8.
#pragma once

#include "agenda.hpp"
#include "search_space.hpp"

namespace certus {

// Writes the nodes of the best path, one a column; false when there is no path.
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
  double* score = arena.get<double>(first[T], kNever<double>);  // the best known way to a node, with the node
  Label* from = arena.get<Label>(first[T]);                     // the node before, within its column
  Label* column = arena.get<Label>(first[T]);
  S* buffer = arena.get<S>(widest);
  Agenda agenda(first[T]);

  const auto reach = [&](Index t, Index j, double x, Index i) {
    const Index id = first[t] + j;
    if (!(x > score[id]) || agenda.taken(id)) return;
    const double promise = x + space.ahead(t, j);
    if (promise == kNever<double>) return;
    if (score[id] == kNever<double>) ++counters.activated;
    score[id] = x, from[id] = static_cast<Label>(i), column[id] = static_cast<Label>(t);
    agenda.raise(id, promise, t);
  };
  for (Index j = 0; j < space.size(0); ++j) reach(0, j, space.node(0, j), 0);
  while (!agenda.empty()) {
    const Index id = agenda.take(), t = column[id], i = id - first[t];
    ++counters.expanded;
    if (t == T - 1) {
      path[t] = i;
      for (Index s = t; s > 0; --s) path[s - 1] = from[first[s] + path[s]];
      return true;
    }
    const S* links = space.links(t, i, buffer);
    const Index n = space.size(t + 1);
    counters.edges += n;
    for (Index j = 0; j < n; ++j) reach(t + 1, j, score[id] + static_cast<double>(links[j]) + space.node(t + 1, j), i);
  }
  return false;
}

}  // namespace certus
