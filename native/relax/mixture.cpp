#include "relax/mixture.hpp"

#include <vector>

#include "base/interrupt.hpp"

namespace certus::relax {
namespace {

struct Move {
  Index to = -1, from = -1;  // the column that should have more weight, and the one to take it from
  double step = 0;           // how much
};

}  // namespace

Index mix(const double* gram, const double* gain, const Index* block, Index columns, Index blocks, double enough,
          Index most_moves, double* a) {
  std::vector<double> slope(gain, gain + columns);  // of the objective
  for (Index k = 0; k < columns; ++k)
    if (a[k] != 0)
      for (Index l = 0; l < columns; ++l) slope[l] -= a[k] * gram[k * columns + l];
  std::vector<Move> best_of(blocks);
  Heed heed;
  for (Index moves = 0;; ++moves) {
    heed(4 * (columns + blocks));
    if (moves == most_moves) return moves;
    best_of.assign(blocks, {});
    for (Index k = 0; k < columns; ++k) {
      Move& move = best_of[block[k]];
      if (move.to < 0 || slope[k] > slope[move.to]) move.to = k;
      if (a[k] > 0 && (move.from < 0 || slope[k] < slope[move.from])) move.from = k;
    }
    Move best;
    double progress = 0;
    for (Move& move : best_of) {
      if (move.to < 0 || move.from < 0) continue;
      const double rise = slope[move.to] - slope[move.from];
      if (!(rise > enough)) continue;
      const double *up = gram + move.to * columns, *down = gram + move.from * columns;
      const double curve = up[move.to] + down[move.from] - 2 * up[move.from];
      move.step = curve > 0 && rise / curve < a[move.from] ? rise / curve : a[move.from];
      const double won = move.step * (rise - 0.5 * move.step * curve);
      if (won > progress) progress = won, best = move;
    }
    if (best.to < 0) return moves;
    const double *up = gram + best.to * columns, *down = gram + best.from * columns;
    a[best.to] += best.step;
    a[best.from] = best.step == a[best.from] ? 0.0 : a[best.from] - best.step;
    for (Index l = 0; l < columns; ++l) slope[l] -= best.step * (up[l] - down[l]);
  }
}

}  // namespace certus::relax
