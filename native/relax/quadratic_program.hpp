// The quadratic program of one part: a mixture of its structures that scores much and is near a point.
#pragma once

#include <vector>

#include "relax/dual.hpp"

namespace certus::relax {

// Maximises, over mixtures of a part's structures, the expected score less half of `penalty` times the squared distance
// of the use of each cell from `toward`, by an active set (Martins et al. 2015, section 6): the structures with weight
// are known; the part is asked for the one that gains most by a little weight; the best mixture of these is found, and
// structures that lost all their weight are dropped. It needs nothing of a part but its maximum.
class Quadratic {
 public:
  // Forgets what was known, and begins with what the part chose last.
  void start(const Dual& dual, Index p);
  // toward[copies], of variables that move; others count by their score alone. Asks the part at most `most` times;
  // point[copies] of its own cells get the mixture. Leaves the part with other adjustments than the dual has.
  void solve(Dual& dual, Index p, double penalty, const std::vector<double>& toward, Index most,
             std::vector<double>& point);

 private:
  struct Structure {
    std::vector<Index> used;
    double score;
  };

  void append(const Dual& dual, Index p);
  void drop();
  void fill_point(const Dual& dual, Index p, std::vector<double>& point) const;

  std::vector<Structure> known_;
  std::vector<std::vector<double>> gram_;  // [known][known]: cells that move and that both use
  std::vector<double> weight_, gain_, slope_;
  std::vector<Index> block_;
  Structure found_;
};

}  // namespace certus::relax
