#include "hypergraph/derivation.hpp"

#include "base/arena.hpp"
#include "hypergraph/recursion.hpp"

namespace certus::hypergraph {

double score(const double* weights, const std::vector<Edge>& edges) {
  double total = 0;
  for (const Edge e : edges) total += weights[e];
  return total;
}

std::vector<Index> given_edges(const Forest& f, const std::vector<Edge>& edges) {
  std::vector<Index> given;
  given.reserve(edges.size());
  for (const Edge e : edges)
    if (e < f.given_edges) given.push_back(f.edge_id[e]);
  return given;
}

// Back-pointers are found again where they are needed: the sum that gave in[v] is the same sum here.
bool best_derivation(const Forest& f, const double* weights, const double* in, std::vector<Edge>& edges) {
  const LocalArena arena;
  Edge* back = arena.get<Edge>(f.nodes, -1);
  std::vector<Node> stack;
  return derive(f, edges, stack, [&](Node v) {
    if (back[v] >= 0) return back[v];
    Edge e = f.begin[v];
    while (term(MaxPlus{}, f, weights, in, e) != in[v]) ++e;
    return back[v] = e;
  });
}

bool sample_derivation(const Forest& f, const double* weights, const double* in, std::vector<Edge>& edges,
                       std::vector<Node>& stack, std::mt19937_64& random) {
  return derive(f, edges, stack, [&](Node v) {
    double left = static_cast<double>(random() >> 11) * 0x1p-53;
    Edge last = -1;  // where rounding leaves something over, the last possible edge takes it
    for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e) {
      const double x = term(LogSum{}, f, weights, in, e);
      if (x == kNever<double>) continue;
      last = e;
      left -= std::exp(x - in[v]);
      if (left < 0) break;
    }
    return last;
  });
}

}  // namespace certus::hypergraph
