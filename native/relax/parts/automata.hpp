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
  Side side(Index head, bool right) const;
  Index cell(const Side& side, Index place) const { return (side.word(place) - 1) * (words_ + 1) + side.head; }
  // [count + 1]: of each modifier before, at the place it has on this side, and of none, at the end.
  const double* siblings(const Side& side, Index place) const;

  bool is_impossible() const;
  // Fills best_ of one side and returns the best value, without the modifier at place `but`.
  double run_side(const Side& side, Index but);
  Index find_last(const Side& side, double* best) const;
  Index find_before(const Side& side, Index place) const;
  void find_suffixes(const Side& side);
  double score_side(const Side& side, std::vector<Index>& used) const;

  Index words_;
  Heed heed_;
  std::vector<double> siblings_;  // by side and place, rows of [places before and one for none]
  std::vector<Index> begin_;      // [2 (n + 1)]: the first row of each side
  std::vector<double> best_, suffix_;
  std::vector<Index> back_, chosen_;
};

}  // namespace certus::relax
