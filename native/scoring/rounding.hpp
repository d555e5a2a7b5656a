// By how much scores of label sequences that are summed in single precision may differ from those of the model.
//
// A model is its stored numbers: whole numbers of steps for units, and weights of n-grams in single precision; its
// scores are their exact sums. The sum of n numbers in any order differs from the exact one by at most
//   (n - 1) u sum |x_i|,   u = 2^-24,
// up to a factor of 1 + n u (Higham 2002, section 4.2). Let A_t be the largest sum of magnitudes of the units of a
// label at position t, which has at most `parts` units of one rounding each when it is converted and one when it is
// multiplied by the step; let V be the most that the magnitudes of n-grams which end at one position sum to. Then
// - a path of the last lattice adds parts + 2 order numbers at each position, one after the other;
// - a dropped sequence is followed along nodes, edges and bounds of longer n-grams (NgramBounds, CoarseContexts). At
// one
//   position these add at most parts + 5 order + 6 numbers, whose magnitudes sum to at most A_t + 4 V: n-grams that end
//   there, those that end with the next label, and what a label exceeds the contexts of candidates by. What sums of
//   exponentials round is counted where they are taken (RestSums).
#pragma once

#include "base/types.hpp"

namespace certus::scoring {

// Of the logarithms of sums over sequences, in the lattice and outside of it.
struct Rounding {
  double kept = 0, dropped = 0;

  // Adds what a position may contribute, given A_t and V.
  void add(Index parts, Index order, double units, double ngrams) {
    constexpr double u = 0x1p-24 * 1.0001;
    const auto count = [](Index n) { return static_cast<double>(n); };
    kept += (count(parts + 2 * order + 2) * u + kDouble) * (units + ngrams) + kDouble;
    dropped += (count(parts + 5 * order + 8) * u + kDouble) * (units + 4 * ngrams) + kDouble;
  }

 private:
  static constexpr double kDouble = 1e-12;  // of sums in double precision, over all states of a position
};

}  // namespace certus::scoring
