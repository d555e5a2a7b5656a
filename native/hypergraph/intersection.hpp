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
#include "hypergraph/signatures.hpp"

namespace certus::hypergraph {

// What does not change between subproblems: heads, and the edges above each node.
struct Above {
  explicit Above(const Forest& f);
  std::vector<Node> head;        // [edges]
  std::vector<Index> begin;      // [nodes + 1]
  std::vector<Edge> edge;        // the edges that have a node as a tail, once for each time
  std::vector<std::int32_t> at;  // and which tail it is
};

class Intersection {
 public:
  enum class Found { nothing, state, goal };

  // Keeps all by reference but the scores, which are the adjusted ones of the moment.
  Intersection(const Relaxation& relaxation, const Above& above, Signatures& signatures);

  // Takes a state; *bound is its score with the best that can surround it. States below `least` are not kept.
  Found next(double least, double* bound);
  Index made() const { return static_cast<Index>(items_.size()); }  // states, taken or not
  // Writes the derivation of the goal that was taken; tells whether it has at most kLargest edges.
  bool derivation(std::vector<Edge>& edges) const;

 private:
  struct Item {
    double value;
    Index slot;  // a node; or, from `nodes` on, an edge with some of its tails joined
    Signatures::Id signature;
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

  void offer(Edge e, std::int32_t joined, double value, std::int32_t left, std::int32_t right, double least);
  void expand(std::int32_t item, double least);
  static std::uint64_t key(Index slot, Signatures::Id signature) {
    return static_cast<std::uint64_t>(slot) << 32 | static_cast<std::uint32_t>(signature);
  }

  const Forest& f_;
  const Above& above_;
  Signatures& signatures_;
  const std::vector<double> weights_;
  std::vector<double> in_ = std::vector<double>(f_.nodes), out_ = in_, rest_ = std::vector<double>(f_.tail.size());
  std::vector<Item> items_;
  std::vector<Waiting> agenda_;
  std::unordered_set<std::uint64_t> taken_;
  std::unordered_map<Index, std::vector<std::int32_t>> by_slot_;
  std::int32_t last_ = -1;
  bool begun_ = false;
  Heed heed_;
};

}  // namespace certus::hypergraph
