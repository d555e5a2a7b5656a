#include "relax/mixture.hpp"

#include "base/interrupt.hpp"

namespace certus::relax {
namespace {

struct Move {
  Index to = -1, from = -1;  // the column that should have more weight, and the one to take it from
  double length = 0;         // how much
};

}  // namespace

Index mix(const std::vector<std::vector<double>>& gram, double step, const std::vector<double>& gain,
          const std::vector<Index>& block, Index blocks, double enough, Index most_moves, std::vector<double>& a,
          std::vector<double>& slope) {
  const Index columns = static_cast<Index>(gain.size());
  slope = gain;
  for (Index k = 0; k < columns; ++k)
    if (a[k] != 0)
      for (Index l = 0; l < columns; ++l) slope[l] -= step * a[k] * gram[k][l];
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
      const double curve = step * (gram[move.to][move.to] + gram[move.from][move.from] - 2 * gram[move.to][move.from]);
      move.length = curve > 0 && rise / curve < a[move.from] ? rise / curve : a[move.from];
      const double won = move.length * (rise - 0.5 * move.length * curve);
      if (won > progress) progress = won, best = move;
    }
    if (best.to < 0) return moves;
    const double *up = gram[best.to].data(), *down = gram[best.from].data();
    a[best.to] += best.length;
    a[best.from] = best.length == a[best.from] ? 0.0 : a[best.from] - best.length;
    for (Index l = 0; l < columns; ++l) slope[l] -= step * best.length * (up[l] - down[l]);
  }
}

}  // namespace certus::relax
