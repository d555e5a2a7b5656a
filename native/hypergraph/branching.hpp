// Lagrangian relaxation, closed by branch and bound.
//
// Where no multipliers make the relaxation tight, the search splits: a node v of the forest that derivations use at
// most once is derived by an edge e, or is not. Both cases only forbid edges, so every subproblem is a forest again.
// Derivations that do not use v are in both; that costs time, not truth. Before it splits, a subproblem loses the edges
// whose max-marginal is below the best answer so far, and it is intersected with the constraints, best first
// (Intersection), for a while: that often ends it.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "hypergraph/constrained.hpp"
#include "hypergraph/intersection.hpp"

namespace certus::hypergraph {

class BranchAndBound final : public ConstrainedSearch {
 public:
  // `states` of the intersection are taken before a subproblem is split.
  BranchAndBound(const Forest& forest, const double* weights, Rows rows, Index states);

 private:
  struct Cut {  // edges forbidden on the way from the whole problem to a subproblem
    std::shared_ptr<const Cut> before;
    std::vector<Edge> edges;
  };
  struct Subproblem {
    double bound;
    std::shared_ptr<const Cut> cut;
    Multipliers multipliers;
    Index number;
  };
  struct LowerBound {
    bool operator()(const Subproblem& a, const Subproblem& b) const {
      return a.bound != b.bound ? a.bound < b.bound : a.number < b.number;  // of equals, the newest: depth first
    }
  };
  enum class Phase { take, descend, intersect, split, over };

  void work() override;
  double open() const override;
  bool is_over() const override { return phase_ == Phase::over; }

  void take();
  void begin_descent();
  void descend();
  void begin_intersection();
  void intersect();
  void split();
  void close() { phase_ = Phase::take, current_.bound = kNever<double>; }
  void fix();
  void push(double bound, const std::shared_ptr<const Cut>& cut);
  void forbid(const Cut* cut);
  void remember(const std::vector<Edge>& edges);
  bool occurs_once(Node v) const;

  const Index patience_;
  const Above above_;
  std::priority_queue<Subproblem, std::vector<Subproblem>, LowerBound> queue_;
  Phase phase_ = Phase::take;
  Subproblem current_{};
  Descent descent_;
  std::unique_ptr<Signatures> signatures_;
  std::unique_ptr<Intersection> intersection_;
  Index taken_ = 0;
  bool unlimited_ = false;
  std::vector<std::vector<Edge>> seen_;  // derivations of this subproblem, to choose where to split
};

}  // namespace certus::hypergraph
