// A search for the best derivation under constraints, whatever its method: it works in units, keeps the best answer so
// far and a bound, and tells how both went.
#pragma once

#include <algorithm>
#include <vector>

#include "base/stopwatch.hpp"
#include "hypergraph/relaxation.hpp"

namespace certus::hypergraph {

class ConstrainedSearch {
 public:
  ConstrainedSearch(const Forest& forest, const double* weights, Rows rows);
  virtual ~ConstrainedSearch() = default;
  ConstrainedSearch(const ConstrainedSearch&) = delete;
  ConstrainedSearch& operator=(const ConstrainedSearch&) = delete;

  // Does up to that many units of work, for so many seconds; tells whether the search is over.
  bool run(Index units, double seconds);

  bool found() const { return score_ != kNever<double>; }
  double score() const { return score_; }
  double bound() const { return dual.empty() ? std::numeric_limits<double>::infinity() : dual.back(); }
  const std::vector<Edge>& derivation() const { return best_; }
  const Forest& forest() const { return relaxation_.forest(); }
  bool too_large() const { return too_large_; }  // a derivation could not be written down

  // After each unit of work, the bound and the score of the best derivation so far.
  std::vector<double> dual, primal;
  Index subproblems = 0, states = 0, fixed = 0;  // opened; states taken; edges forbidden by max-marginals

 protected:
  virtual void work() = 0;
  // No derivation but the best found has more than this; kNever when there is nothing left to look at.
  virtual double open() const = 0;
  virtual bool is_over() const { return open() == kNever<double>; }

  bool is_late() const { return watch_.elapsed() > seconds_; }
  // Takes a derivation that satisfies the constraints.
  void offer(const std::vector<Edge>& edges);
  bool is_beaten(double bound) const { return bound <= relaxation_.floor() || bound <= mark_; }
  // Whether a value of the relaxation, which may be off by that much, leaves no room for a better derivation.
  bool is_beaten(double value, double off) const;
  // Whether values that may be off by that much are as good as exact, at the scale of the best derivation. They are not
  // where other derivations have much larger scores: then a search goes on until values are below it by as much.
  bool is_rounding(double off) const;
  double least(const Multipliers& multipliers, double score) const {
    return relaxation_.least(multipliers, score, is_rounding(relaxation_.slack(multipliers)));
  }

  Relaxation relaxation_;
  std::vector<Edge> best_, edges_;
  double score_ = kNever<double>, mark_ = kNever<double>;  // of the best; what others have to beat
  bool too_large_ = false;

 private:
  double size_ = 0, rounding_ = 0;  // of the scores of the best, without their signs; of their sums
  Stopwatch watch_;
  double seconds_ = 0;
};

}  // namespace certus::hypergraph
