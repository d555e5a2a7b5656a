// Things that belong to some edges of a forest, listed edge by edge.
#pragma once

#include "hypergraph/forest.hpp"

namespace certus::hypergraph {

struct EdgeLists {
  std::vector<Edge> edge;        // the edges that have a list, increasing
  std::vector<Index> begin{0};   // [edge + 1]: where their lists begin
  std::vector<std::int32_t> of;  // [edges of the forest]: into edge, or -1

  // Makes room for a thing of each of these edges; returns where each of them goes. Those of an edge keep their order.
  std::vector<Index> build(Index edges, const std::vector<Edge>& owners) {
    std::vector<Index> uses(static_cast<std::size_t>(edges), 0), places;
    for (const Edge e : owners) ++uses[e];
    of.assign(static_cast<std::size_t>(edges), -1);
    for (Edge e = 0; e < edges; ++e) {
      if (!uses[e]) continue;
      of[e] = static_cast<std::int32_t>(edge.size());
      edge.push_back(e);
      begin.push_back(begin.back() + uses[e]);
    }
    std::vector<Index> next(begin);
    for (const Edge e : owners) places.push_back(next[of[e]]++);
    return places;
  }
};

}  // namespace certus::hypergraph
