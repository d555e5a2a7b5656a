// Head automata with sibling scores (Eisner 2000; Koo et al. 2010): cells [n][n + 1], word by head, as spanning trees
// have them; here a word may have any number of heads.
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// For each head and side, the best sequence of modifiers, from the head outwards:
//   best[m] = arc[m] + into[m],  into[m] = max over k of best[k] + sibling(k, m),  k a modifier between the head and m,
// or none. Whenever a best[k] is known, into[] of all words beyond is raised, many at once.
class HeadAutomata final : public Part {
 public:
  // arcs[n][n + 1]; siblings[n + 1][n + 2][n + 1], by head, the modifier before (n + 1 for none) and the modifier,
  // where words count from 1. -inf forbids. Siblings are not copied: they have to stay.
  HeadAutomata(std::vector<double> arcs, const double* siblings, Index words);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

  // One side of a head, and the arrays that its scores go into, by word.
  struct Side {
    Index words, head;
    bool right;
    const double* siblings;        // [n + 2][n + 1]
    const double* sums;            // [n][n + 1], as all cells of this head
    const std::uint8_t* required;  // the same
    double *best, *into, *raised;  // [n + 1]; the last is what into[] of the words ahead is so far
  };
  // What bounds need beside the best sequences, by word.
  struct Bounds {
    double *suffix, *rest;   // [n + 1]: the best that can follow a modifier; with the modifier itself
    Index* limit;            // [n + 1]: the nearest word beyond that has to be a modifier, 0 for none
    double *with, *without;  // [n][n + 1], as the cells of this head
  };

 private:
  // What the automaton of a side chose last.
  struct Found {
    double value = 0, score = 0;  // with the adjustments, and without
    bool is_run = false;          // since its adjustments changed
    bool is_bounded = false;      // the same of with_ and without_
    std::vector<Index> used;      // cells, the outermost first
  };

  Side side(Index head, bool right);
  double sibling(Index head, Index before, Index word) const {
    return siblings_[(head * (words_ + 2) + before) * (words_ + 1) + word];
  }
  bool is_impossible() const;
  void find_changed();
  double run_changed();
  void run_side(const Side& side);
  void bound_side(const Side& side);

  Index words_;
  Heed heed_;
  const double* siblings_;
  std::vector<Found> sides_;                    // [2 (n + 1)]: of each head the left one, then the right one
  std::vector<double> best_, into_;             // [n + 1][n + 1], by head and word
  std::vector<double> raised_, suffix_, rest_;  // [n + 1]
  std::vector<Index> limit_;                    // [n + 1]
  std::vector<double> with_, without_;          // [cells]: max-marginals less the value of their side
  std::vector<double> seen_;                    // [cells]: sums_ when the sides were run,
  std::vector<std::uint8_t> needed_;            // and required_
};

}  // namespace certus::relax
