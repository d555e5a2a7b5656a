// A forest intersected with sums of constraints, node by node, with a beam: the chart of Rush, Chang & Collins,
// "Optimal beam search for machine translation" (EMNLP 2013), figure 3.
//
// A state is a node with a signature. The states of a node are made best first, from its edges and the states of their
// tails (cube pruning's order, Chiang 2007), under the adjusted scores of a relaxation. When the beam is full, or what
// follows cannot lead to anything better than what is known, the rest is dropped: all of it scores at most what would
// have come next. With what surrounds the node at best, that bounds every derivation that the beam has lost.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/interrupt.hpp"
#include "hypergraph/signatures.hpp"

namespace certus::hypergraph {

class Beam {
 public:
  struct Settings {
    Index width;      // states per node at most
    double least;     // adjusted values below this, with the best that can surround them, do not matter
    bool keep_ways;   // whether to keep every way to make a state, for a forest of states; else the best alone
    Index most_ways;  // to make states, in all
  };

  // Keeps both by reference, and uses the adjusted scores of the moment.
  Beam(const Relaxation& relaxation, Signatures& signatures);

  // Tells whether it got to the end: `is_late` is asked from time to time.
  bool run(const Settings& settings, const std::function<bool()>& is_late);

  bool found() const { return goal_ >= 0; }  // the goal with the targets
  // Of the best state of the goal that satisfies the constraints. Tells whether it could be written down.
  bool derivation(std::vector<Edge>& edges) const;
  // The highest adjusted value that something dropped by the beam may lead to: kNever where nothing was dropped.
  double dropped() const { return dropped_; }
  bool is_full() const { return full_; }  // whether there were more ways than may be kept: a wider beam is no use
  double value() const { return found() ? states_[goal_].value : kNever<double>; }
  Index states() const { return static_cast<Index>(states_.size()); }

  // The states as a forest of their own, where all ways were kept: its goal is the state that satisfies the
  // constraints.
  static constexpr Edge kCrown = -1;
  struct Product {
    std::unique_ptr<Forest> forest;
    std::vector<Edge> edge;  // [edges of it]: the edge of the forest that each stands for; kCrown above several goals
  };
  Product make_product() const;

 private:
  struct State {
    double value;
    Signatures::Id signature;
    std::int32_t way;  // the first made
  };
  struct Way {
    Edge edge;
    std::int32_t state, tails;  // which state it makes; where its tails' states are listed
  };
  struct Candidate {
    double value;
    Edge edge;
    std::int32_t ranks;   // where the ranks of its tails are listed
    std::int32_t raised;  // the last tail with a rank above 0
    bool operator<(const Candidate& other) const {
      return value != other.value ? value < other.value : edge > other.edge;
    }
  };

  void fill(Node v, const Settings& settings);
  void begin(Node v);
  void add_neighbours(const Candidate& candidate);
  void push(Edge e, const std::int32_t* ranks, std::int32_t raised);
  Signatures::Id sign(const Candidate& candidate);
  std::int32_t find(Signatures::Id signature) const;
  void take(const Candidate& candidate, Signatures::Id signature);

  const Forest& f_;
  const std::vector<double>& weights_;
  Signatures& signatures_;
  std::vector<double> in_, out_;
  std::vector<State> states_;
  std::vector<std::int32_t> begin_;  // [nodes + 1]: the states of each node, best first
  std::vector<Way> ways_;
  std::vector<std::int32_t> tails_;
  std::vector<Candidate> heap_;
  std::vector<std::int32_t> ranks_, scratch_;
  std::vector<std::int32_t> state_of_;  // [signatures]: the state of this node that has it
  std::vector<Signatures::Id> seen_;    // those of this node
  std::int32_t goal_ = -1;
  double least_ = kNever<double>;  // values of the node that matter
  double dropped_ = kNever<double>;
  bool full_ = false;
  Heed heed_;
};

}  // namespace certus::hypergraph
