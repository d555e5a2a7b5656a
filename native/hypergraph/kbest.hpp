// The derivations of a forest, best first, each found when it is asked for: algorithm 3 of Huang & Chiang, "Better
// k-best parsing" (IWPT 2005).
//
// A derivation of a node is an edge with a rank for each tail: the tail's derivation of that rank. A node keeps its
// derivations so far, in order, and a heap of candidates for the next. When a derivation is taken, its neighbours
// (one rank further at one tail) become candidates, for which the tails may have to go one derivation further.
//
// Departures: the recursion is a stack, since forests can be deep. A neighbour raises the rank of its last raised tail
// or of one after it only: so every derivation has one way to be reached, and no table of those seen is kept. Nodes
// that are asked for their best only, known from the inside pass, need no heap.
#pragma once

#include <deque>
#include <vector>

#include "base/interrupt.hpp"
#include "hypergraph/forest.hpp"

namespace certus::hypergraph {

class KBest {
 public:
  // Keeps the forest by reference, the scores by value: they are used for as long as derivations are asked for.
  KBest(const Forest& forest, const double* weights);

  KBest(const KBest&) = delete;
  KBest& operator=(const KBest&) = delete;

  // Writes the next derivation and tells whether there was one. *value is its score as the search added it up.
  bool next(std::vector<Edge>& edges, double* value);
  bool too_large() const { return too_large_; }
  double best() const { return in_[f_.goal()]; }
  const double* weights() const { return weights_.data(); }
  Index expanded() const { return expanded_; }

 private:
  struct Item {
    double value;
    Edge edge;
    // The ranks of the first two tails, where the others' are 0; else, with the first below 0, a place in the pool.
    std::int32_t first = 0, second = 0;
  };
  struct List {
    std::vector<Item> found, candidates;
    bool opened = false;     // candidates were filled
    bool exhausted = false;  // no further derivation exists
    Edge position = -1;      // the tail at which neighbours of the last one found are made next; -1: not begun
  };
  struct Ranked {
    Node node;
    std::size_t rank;
  };

  static bool is_worse(const Item& a, const Item& b);
  List& list(Node v);
  Edge arity(Edge e) const { return f_.tail_begin[e + 1] - f_.tail_begin[e]; }
  Node tail(Edge e, Edge i) const { return f_.tail[f_.tail_begin[e] + i]; }
  double term(Edge e) const;
  std::int32_t rank(const Item& item, Edge i) const;

  bool find(Node goal, std::size_t wanted);
  bool advance(Node v, List& l, Ranked* needs);
  void open(Node v, List& l);
  void add_neighbour(List& l, const Item& last, Edge position);
  bool extract(std::size_t wanted, std::vector<Edge>& edges);

  const Forest& f_;
  const std::vector<double> weights_, in_;
  std::vector<List*> lists_;  // [nodes]: null before the node is asked for
  std::deque<List> made_;     // where they are
  std::vector<std::int32_t> pool_;
  std::vector<Ranked> stack_;  // scratch
  Heed heed_;
  Index expanded_ = 0;
  std::size_t given_ = 0;
  bool too_large_ = false;
};

}  // namespace certus::hypergraph
