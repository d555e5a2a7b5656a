// Head automata with sibling scores (Eisner 2000; Koo et al. 2010): cells [n][n + 1], word by head, as spanning trees
// have them; here a word may have any number of heads.
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// For each head and side, the best sequence of modifiers, from the head outwards:
//   best[m] = arc[m] + max over k of best[k] + sibling(k, m),  k a modifier between the head and m, or none.
class HeadAutomata final : public Part {
 public:
  // arcs[n][n + 1]; siblings[n + 1][n + 2][n + 1], by head, the modifier before (n + 1 for none) and the modifier,
  // where words count from 1. -inf forbids.
  HeadAutomata(std::vector<double> arcs, const double* siblings, Index words);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  // The modifiers of a head on one side, the nearest first: there are `count`, the first is `first`, and each is `step`
  // further on.
  struct Side {
    Index head, first, step, count;
    Index word(Index place) const { return first + place * step; }
  };
  // What the automaton of a side chose last.
  struct Found {
    double value = 0, score = 0;  // with the adjustments, and without
    bool is_run = false;          // since its adjustments changed
    bool is_bounded = false;      // the same of with_ and without_
    std::vector<Index> used;      // cells
  };

  Side side(Index head, bool right) const;
  static Index number(const Side& side) { return 2 * side.head + (side.step > 0); }
  Index cell(const Side& side, Index place) const { return (side.word(place) - 1) * (words_ + 1) + side.head; }
  Index place_of(const Side& side, Index c) const { return (c / (words_ + 1) + 1 - side.first) * side.step; }
  // [place + 1]: of each modifier before, at the place it has on this side, and of none, at the end.
  const double* siblings(const Side& side, Index place) const;

  bool is_impossible() const;
  void find_changed();
  double run_changed();
  void run_side(const Side& side);
  void bound_side(const Side& side);
  Index find_last(const Side& side, double* value) const;
  Index find_before(const Side& side, Index place) const;
  void find_suffixes(const Side& side);
  double find_without(const Side& side, Index but) const;

  Index words_;
  Heed heed_;
  std::vector<Found> sides_;            // [2 (n + 1)]
  std::vector<double> siblings_;        // by side and place, rows of [places before and one for none]
  std::vector<Index> begin_, first_;    // [2 (n + 1)]: the first row of each side, and its first place in best_
  std::vector<double> best_, suffix_;   // by side and place; by place
  std::vector<double> with_, without_;  // [cells]: max-marginals less the value of their side
  std::vector<double> seen_;            // [cells]: sums_ when the sides were run,
  std::vector<std::uint8_t> needed_;    // and required_
};

}  // namespace certus::relax
