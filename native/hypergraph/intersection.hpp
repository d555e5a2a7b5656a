// A forest intersected with sums of constraints, searched best first.
//
// A state is a node with the vector of sums A x that a derivation of it adds up to: of all derivations that share both,
// only the best matters, however many there are. States are taken in the order of their score plus the best that can
// surround the node in the relaxation (A* parsing: Klein & Manning, NAACL 2003), so the first state of the goal with
// the sums b is the best derivation that satisfies the constraints, and what is taken bounds all that is left. Edges
// with several tails are joined tail by tail, from the left.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/interrupt.hpp"
#include "hypergraph/edge_lists.hpp"

namespace certus::hypergraph {

// What does not change between subproblems: heads, the edges above each node, the constraints by edge.
struct Above {
  explicit Above(const Forest& f);
  std::vector<Node> head;        // [edges]
  std::vector<Index> begin;      // [nodes + 1]
  std::vector<Edge> edge;        // the edges that have a node as a tail, once for each time
  std::vector<std::int32_t> at;  // and which tail it is
};

struct Coefficients : EdgeLists {
  Index rows = 0;
  std::vector<std::int32_t> row;
  std::vector<double> value;
};

class Intersection {
 public:
  enum class Found { nothing, state, goal };

  // All by reference. `weights` are those of the relaxation; low and high, if not empty, bound what can surround a
  // node: [rows][nodes], so that a state with sums s is hopeless unless low <= target - s <= high (within tolerance).
  Intersection(const Forest& f, const Above& above, const Coefficients& rows, std::vector<double> weights,
               const std::vector<double>& targets, std::vector<double> tolerance, std::vector<double> low,
               std::vector<double> high);

  // Takes a state; *bound is its score with the best that can surround it. States below `least` are not kept.
  Found next(double least, double* bound);
  // Writes the derivation of the goal that was taken; tells whether it has at most kLargest edges.
  bool derivation(std::vector<Edge>& edges) const;

 private:
  struct Item {
    double value;
    Index slot;  // a node; or, from `nodes` on, an edge with some of its tails joined
    Edge edge;
    std::int32_t joined;       // how many tails
    std::int32_t left, right;  // the items it was joined from: the edge with one tail less, and the tail; or -1
  };
  struct Waiting {
    double bound;
    std::int32_t item;
    bool operator<(const Waiting& other) const {  // of equals the newest first: it is nearest to the goal
      return bound != other.bound ? bound < other.bound : item < other.item;
    }
  };
  struct Hash {
    const Intersection* self;
    std::size_t operator()(std::int32_t item) const;
  };
  struct Same {
    const Intersection* self;
    bool operator()(std::int32_t a, std::int32_t b) const;
  };

  void offer(Edge e, std::int32_t joined, double value, std::int32_t left, std::int32_t right, double least);
  bool is_hopeless(Node v, const double* sums) const;
  void expand(std::int32_t item, double least);
  const double* sums(std::int32_t item) const { return sums_.data() + item * rows_.rows; }

  const Forest& f_;
  const Above& above_;
  const Coefficients& rows_;
  const std::vector<double>& targets_;
  std::vector<double> weights_, tolerance_, low_, high_;
  std::vector<double> in_ = std::vector<double>(f_.nodes), out_ = in_, rest_ = std::vector<double>(f_.tail.size());
  std::vector<Item> items_;
  std::vector<double> sums_, scratch_ = std::vector<double>(rows_.rows);
  std::vector<Waiting> agenda_;
  std::unordered_set<std::int32_t, Hash, Same> taken_{64, Hash{this}, Same{this}};
  std::unordered_map<Index, std::vector<std::int32_t>> by_slot_;
  std::int32_t last_ = -1;
  bool begun_ = false;
  Heed heed_;
};

}  // namespace certus::hypergraph
