// The scores of a sentence's trees without those that are in no tree as good as a known one, so that a proof is at the
// scale of the scores that matter: see base/rounding.hpp.
//
// Every word has one arc, and is the second of one pair of siblings, the last of one chain of grandparents, and so on;
// every side ends with one pair. The best of each by itself, for each word and each side,
//
//     U = sum over words of max over its arcs a of (s(a) + the best of each kind of part that a is the last of)
//       + sum over sides of the best of each kind of part that ends it,
//
// bounds all trees, and with another number in the place of the best one all trees that have it.
#pragma once

#include <vector>

#include "syntax/dependency/arcs.hpp"

namespace certus::syntax {

// The scores of a sentence, in memory of their own; kinds that are not there are empty.
struct OwnScores {
  std::vector<double> arcs, siblings, grandparents, grandsiblings;

  TreeScores<double> view() const;
  // What the score of no tree exceeds, in size.
  double measure_scale(const Arcs& arcs) const;
  // The gap between a bound and a score that counts as rounding: see base/rounding.hpp.
  double find_allowance(double scale) const;
};

// Forbids what is in no tree of at least this score; `margin` is what counts as rounding.
void reduce_scores(const Arcs& arcs, double score, double margin, OwnScores& scores);

}  // namespace certus::syntax
