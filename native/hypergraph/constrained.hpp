// The best derivation whose edge counts x satisfy A x = b: Lagrangian relaxation, closed by branch and bound.
//
// For multipliers u, the best derivation under the scores w - u A, plus u b, bounds every derivation that satisfies
// the constraints; one that satisfies them and is best under those scores is the optimum. Where no multipliers make
// that so, the search splits: a node v of the forest that derivations use at most once is derived by an edge e, or is
// not. Both cases only forbid edges, so every subproblem is a forest again. Derivations that do not use v are in both;
// that costs time, not truth. Before it splits, a subproblem loses the edges whose max-marginal is below the best
// answer so far, and it is intersected with the constraints, best first (Intersection), for a while: that often ends
// it.
#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "hypergraph/intersection.hpp"

namespace certus::hypergraph {

struct Rows {
  Index count = 0;
  std::vector<Index> begin;  // [count + 1]
  std::vector<Edge> edge;    // in the forest's order
  std::vector<double> coefficient;
  std::vector<double> target;  // [count]: b
};

class Constrained {
 public:
  // `states` of the intersection are taken before a subproblem is split.
  Constrained(const Forest& forest, const double* weights, Rows rows, Index states);

  // Does up to that many units of work (a pass over the forest each); tells whether the search is over.
  bool run(Index units);

  bool found() const { return !best_.empty(); }
  double score() const { return score_; }
  double bound() const;
  const std::vector<Edge>& derivation() const { return best_; }
  const Forest& forest() const { return f_; }
  bool too_large() const { return too_large_; }

  // After each unit of work, the bound and the score of the best derivation so far.
  std::vector<double> dual, primal;
  Index subproblems = 0, states = 0, fixed = 0;  // opened; states taken; edges forbidden by max-marginals

 private:
  struct Cut {  // edges forbidden on the way from the whole problem to a subproblem
    std::shared_ptr<const Cut> before;
    std::vector<Edge> edges;
  };
  struct Subproblem {
    double bound;
    std::shared_ptr<const Cut> cut;
    std::vector<double> multipliers;
    Index number;
  };
  struct LowerBound {
    bool operator()(const Subproblem& a, const Subproblem& b) const {
      return a.bound != b.bound ? a.bound < b.bound : a.number < b.number;  // of equals, the newest: depth first
    }
  };
  enum class Phase { take, descend, intersect, split, over };

  void prepare();
  void take();
  void begin_descent();
  void descend();
  void step(double value);
  void begin_intersection();
  void intersect();
  void ranges(std::vector<double>& low, std::vector<double>& high);
  void split();
  void close() { phase_ = Phase::take, current_.bound = kNever<double>; }
  void fix();
  void push(double bound, const std::shared_ptr<const Cut>& cut);

  void forbid(const Cut* cut);
  void adjust(const std::vector<double>& multipliers);
  bool is_satisfied(const std::vector<Edge>& edges);
  void offer(const std::vector<Edge>& edges);
  void remember(const std::vector<Edge>& edges);
  bool occurs_once(Node v);
  double offset(const std::vector<double>& multipliers) const;
  double slack(const std::vector<double>& multipliers) const;
  double tolerance(Index row) const;
  double tight(double value) const;
  bool is_beaten(double bound) const { return bound <= floor_ || (found() && bound <= score_); }
  bool is_beaten(double value, double off) const;

  const Forest& f_;
  const Rows rows_;
  const Index patience_;
  std::vector<double> weights_, base_, adjusted_, in_, out_, marginal_;
  const Above above_;
  Coefficients coefficients_;                                  // of the edges that constraints name
  bool whole_ = false, exact_rows_ = false;                    // whole-numbered scores; whole-numbered constraints
  double most_edges_ = 0, mass_ = 0, floor_ = kNever<double>;  // floor: no derivation scores less
  std::vector<double> row_mass_;

  std::priority_queue<Subproblem, std::vector<Subproblem>, LowerBound> queue_;
  Phase phase_ = Phase::take;
  Subproblem current_{};
  std::vector<double> at_;         // the multipliers of the next evaluation
  std::vector<double> violation_;  // [rows]: A x - b of the last derivation looked at
  double lowest_ = 0, level_ = 0;  // of the descent: the lowest value so far, and how far below to aim
  Index rounds_ = 0, stalled_ = 0, limit_ = 0;
  std::unique_ptr<Intersection> intersection_;
  Index taken_ = 0;
  bool unlimited_ = false;
  std::vector<std::vector<Edge>> seen_;  // derivations of this subproblem, to choose where to split
  std::vector<Edge> edges_, best_;
  double score_ = kNever<double>;
  bool too_large_ = false;
};

}  // namespace certus::hypergraph
