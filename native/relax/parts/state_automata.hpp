// Head automata with states of the user's own (Eisner 2000; Koo et al. 2010): cells [n][n + 1], word by head, as
// spanning trees have them; here a word may have any number of heads.
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// For each head and side, an automaton passes the words from the head outwards. It leaves a word alone and stays in its
// state, or takes it as a modifier and goes on to any state, for a score:
//   best[m][s] = max(best[m - 1][s],  arc[m] + max over r of best[m - 1][r] + step[r][s][m])
class StateAutomata final : public Part {
 public:
  // arcs[n][n + 1]; steps[n + 1][2][S][S][n + 1], by head, side (left, right), the state before, the state after, and
  // the modifier, where words count from 1; start and stop[n + 1][2][S]. -inf forbids.
  StateAutomata(std::vector<double> arcs, std::vector<double> steps, std::vector<double> start,
                std::vector<double> stop, Index words, Index states);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  struct Side {
    Index number, head, first, step, count;
    Index word(Index place) const { return first + place * step; }
  };
  Side side(Index number) const;
  Index cell(const Side& side, Index place) const { return (side.word(place) - 1) * (words_ + 1) + side.head; }
  double step(const Side& side, Index from, Index to, Index place) const {
    return steps_[((side.number * states_ + from) * states_ + to) * (words_ + 1) + side.word(place)];
  }
  double take(const Side& side, Index place, const double* before, Index to, Index* from) const;
  bool is_impossible() const;
  // Fills best_ of one side and returns the best value.
  double run_forward(const Side& side);
  void run_backward(const Side& side);
  double trace(const Side& side, std::vector<Index>& used) const;

  Index words_, states_;
  Heed heed_;
  std::vector<double> steps_, start_, stop_;
  std::vector<double> best_, rest_;  // [n + 1][S]: after so many places of one side
};

}  // namespace certus::relax
