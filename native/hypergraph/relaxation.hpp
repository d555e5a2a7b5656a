// Constraints A x = b on the edge counts x of derivations, and their Lagrangian relaxation.
//
// For multipliers u, the best derivation under the scores w - u A, plus u b, bounds every derivation that satisfies
// the constraints; one that satisfies them and is best under those scores is the optimum (Rush & Collins, JAIR 2012).
#pragma once

#include <vector>

#include "hypergraph/edge_lists.hpp"

namespace certus::hypergraph {

struct Rows {
  Index count = 0;
  std::vector<Index> begin;  // [count + 1]
  std::vector<Edge> edge;    // in the forest's order
  std::vector<double> coefficient;
  std::vector<double> target;  // [count]: b
};

struct Coefficients : EdgeLists {  // the rows' coefficients, edge by edge
  Index rows = 0;
  std::vector<std::int32_t> row;
  std::vector<double> value;
};

using Multipliers = std::vector<double>;

class Relaxation {
 public:
  Relaxation(const Forest& forest, const double* weights, Rows rows);

  // Forbids an edge in what follows, until everything is allowed again.
  void forbid(Edge e) { base_[e] = adjusted_[e] = kNever<double>; }
  void restore() { base_ = adjusted_ = weights_, mass_ = whole_mass_; }
  // Measures the slack by the edges that are not forbidden.
  void measure();
  bool is_open(Edge e) const { return base_[e] != kNever<double>; }

  void adjust(const Multipliers& multipliers);
  // Adjusts, and returns the value of the relaxation, up to its slack; or kNever where no derivation is left.
  double maximize(const Multipliers& multipliers);
  // Writes the derivation behind that value; tells whether it could be written down.
  bool derive(std::vector<Edge>& edges) const;
  // Tells whether a derivation satisfies the constraints, and remembers by how much it violates each.
  bool is_satisfied(const std::vector<Edge>& edges);
  const std::vector<double>& violation() const { return violation_; }  // [rows]: A x - b
  double score(const std::vector<Edge>& edges) const;

  double offset(const Multipliers& multipliers) const;  // u b
  // By how much multipliers may make a value of the relaxation wrong through rounding. Without them a value is a sum of
  // the scores of a derivation alone, which is as exact as any such sum.
  double slack(const Multipliers& multipliers) const;
  double tolerance(Index row) const;
  // The highest score that a derivation below a bound can have.
  double tight(double value) const;
  double floor() const { return floor_; }  // no derivation scores less
  // Adjusted values below this cannot lead to a derivation better than one of that score: where scores are whole
  // numbers, better by one; else, by more than rounding can tell, or at all.
  double least(const Multipliers& multipliers, double score, bool beyond_rounding) const;

  // For each constraint and node, the lowest or (sign 1) the highest sum of what can surround the node: [rows][nodes].
  std::vector<double> ranges(double sign) const;

  const Forest& forest() const { return f_; }
  const Rows& rows() const { return rows_; }
  const Coefficients& coefficients() const { return coefficients_; }
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& base() const { return base_; }
  const std::vector<double>& adjusted() const { return adjusted_; }
  bool is_whole() const { return whole_; }  // whether all scores are whole numbers, and their sums exact

 private:
  void list_by_edge();

  const Forest& f_;
  const Rows rows_;
  const std::vector<double> weights_;
  std::vector<double> base_, adjusted_, in_, violation_, row_mass_;
  Coefficients coefficients_;  // of the edges that constraints name
  bool whole_ = false, exact_rows_ = false;
  double most_edges_ = 0, whole_mass_ = 0, mass_ = 0, floor_ = kNever<double>;
};

// Polyak's steps towards the best answer, or, while that is far off or not known, towards a level below the lowest
// value so far, which comes nearer when it is not reached.
class Descent {
 public:
  void begin(const Multipliers& from, Index rounds);

  const Multipliers& at() const { return at_; }      // where to evaluate next
  const Multipliers& best() const { return best_; }  // where the value was lowest
  void observe(double value);
  // Goes on from a value and the violation seen there; tells whether there is a next round. `least` is a score that is
  // known to be reached, or the floor; `found` the best answer, or kNever.
  bool step(double value, const std::vector<double>& violation, double least, double found);

 private:
  Multipliers at_, best_;
  double lowest_ = 0, level_ = 0;
  Index rounds_ = 0, stalled_ = 0, limit_ = 0;
};

}  // namespace certus::hypergraph
