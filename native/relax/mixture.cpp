#include "relax/mixture.hpp"

#include <vector>

#include "base/interrupt.hpp"

namespace certus::relax {
namespace {

struct Pair {
  Index to = -1, from = -1;  // the column that should have more weight, and the one to take it from
};

}  // namespace

Index mix(const double* gram, const double* gain, const Index* block, Index columns, Index blocks, double enough,
          Index most_moves, double* a) {
  std::vector<double> slope(gain, gain + columns);  // of the objective
  for (Index k = 0; k < columns; ++k)
    if (a[k] != 0)
      for (Index l = 0; l < columns; ++l) slope[l] -= a[k] * gram[k * columns + l];
  std::vector<Pair> pairs(blocks);
  Heed heed;
  for (Index moves = 0;; ++moves) {
    heed(4 * (columns + blocks));
    if (moves == most_moves) return moves;
    pairs.assign(blocks, {});
    for (Index k = 0; k < columns; ++k) {
      Pair& pair = pairs[block[k]];
      if (pair.to < 0 || slope[k] > slope[pair.to]) pair.to = k;
      if (a[k] > 0 && (pair.from < 0 || slope[k] < slope[pair.from])) pair.from = k;
    }
    Pair best;
    double progress = 0;
    for (const Pair& pair : pairs) {
      if (pair.to < 0 || pair.from < 0) continue;
      const double rise = slope[pair.to] - slope[pair.from];
      if (!(rise > enough)) continue;
      const double curve = gram[pair.to * columns + pair.to] + gram[pair.from * columns + pair.from] -
                           2 * gram[pair.to * columns + pair.from];
      const double most = a[pair.from];
      const double step = curve > 0 && rise / curve < most ? rise / curve : most;
      const double won = step * (rise - 0.5 * step * curve);
      if (won > progress) progress = won, best = pair;
    }
    if (best.to < 0) return moves;
    const double rise = slope[best.to] - slope[best.from];
    const double *up = gram + best.to * columns, *down = gram + best.from * columns;
    const double curve = up[best.to] + down[best.from] - 2 * up[best.from];
    double step = a[best.from];
    if (curve > 0 && rise / curve < step) step = rise / curve;
    a[best.to] += step;
    a[best.from] = step == a[best.from] ? 0.0 : a[best.from] - step;
    for (Index l = 0; l < columns; ++l) slope[l] -= step * (up[l] - down[l]);
  }
}

}  // namespace certus::relax
