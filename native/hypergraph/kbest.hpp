// Derivations best first, each found when it is asked for: algorithm 3 of Huang & Chiang, "Better k-best parsing"
// (IWPT 2005).
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

#include "hypergraph/forest.hpp"

namespace certus::hypergraph {

class KBest {
 public:
  // Keeps the forest by reference, the scores by value: they are used for as long as derivations are asked for.
  KBest(const Forest& forest, const double* weights);

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
    Index ranks;  // into the pool: one for each tail; none (-1) where all are 0
    Index made;   // ties go to the lower edge, then to what was made first
  };
  struct List {
    std::vector<Item> found, candidates;
    bool opened = false;     // candidates were filled
    bool exhausted = false;  // no further derivation exists
    Edge position = -1;      // the tail at which neighbours of the last one found are made next; -1: not begun
  };
  static bool worse(const Item& a, const Item& b) {
    return a.value != b.value ? a.value < b.value : a.edge != b.edge ? a.edge > b.edge : a.made > b.made;
  }

  List& list(Node v);
  std::int32_t rank(const Item& item, Edge i) const { return item.ranks < 0 ? 0 : pool_[item.ranks + i]; }
  void begin(Node v, List& l);
  void open(Node v, List& l);
  bool ensure(Node v, std::size_t rank);
  bool advance(Node v, List& l, Node* needs, std::size_t* its_rank);
  void neighbour(List& l, const Item& last, Edge position);
  bool extract(std::size_t rank, std::vector<Edge>& edges);

  const Forest& f_;
  std::vector<double> weights_, in_;
  std::vector<std::int32_t> slot_;  // [nodes]: into lists, or -1
  std::deque<List> lists_;
  std::vector<std::int32_t> pool_;
  std::size_t given_ = 0;
  Index made_ = 0, expanded_ = 0;
  bool too_large_ = false;
};

}  // namespace certus::hypergraph
