// Derivations: trees of edges, written down in preorder (an edge, then the derivations of its tails, left to right).
#pragma once

#include <random>
#include <vector>

#include "base/interrupt.hpp"
#include "hypergraph/forest.hpp"

namespace certus::hypergraph {

// A node that is used twice is written down twice, so derivations can be exponentially larger than their forest.
inline constexpr Index kLargest = Index{1} << 24;

// Writes the edges of a derivation in preorder; `expand(item)` returns the edge of an item, and puts what stands for
// its tails on the stack, the first on top. Tells whether the derivation has at most kLargest edges.
template <class Item, class Expand>
bool derive(const Item& goal, std::vector<Edge>& edges, std::vector<Item>& stack, const Expand& expand) {
  edges.clear();
  stack.assign(1, goal);
  Heed heed;
  while (!stack.empty()) {
    heed(16);
    const Item item = stack.back();
    stack.pop_back();
    if (static_cast<Index>(edges.size()) == kLargest) return false;
    edges.push_back(expand(item));
  }
  return true;
}
// The same where `choose(v)` returns the edge of a node of the forest.
template <class Choose>
bool derive(const Forest& f, std::vector<Edge>& edges, std::vector<Node>& stack, const Choose& choose) {
  return derive(f.goal(), edges, stack, [&](Node v) {
    const Edge e = choose(v);
    for (Edge i = f.tail_begin[e + 1]; i-- > f.tail_begin[e];) stack.push_back(f.tail[i]);
    return e;
  });
}

// The score of a derivation: its edges' scores, added in their order.
double score(const double* weights, const std::vector<Edge>& edges);

// The user's numbers of the edges of a derivation; those above the goals are left out.
std::vector<Index> given_edges(const Forest& f, const std::vector<Edge>& edges);

// The best derivation, given what max_inside found for a goal that has one: of the edges of a node that are best, the
// first. Tells whether it has at most kLargest edges.
bool best_derivation(const Forest& f, const double* weights, const double* in, std::vector<Edge>& edges);

// A derivation drawn in proportion to exp(score), given what log_inside found. Tells the same.
bool sample_derivation(const Forest& f, const double* weights, const double* in, std::vector<Edge>& edges,
                       std::vector<Node>& stack, std::mt19937_64& random);

}  // namespace certus::hypergraph
