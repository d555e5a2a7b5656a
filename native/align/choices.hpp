// The problem of bidirectional.hpp: its scores, and the score of an answer.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::align {

struct Prices {
  double adjacent, apart, alone;  // not above 0; -inf forbids
};

// One side: `words` that choose among `values` (0 is nothing).
struct Side {
  Index words, values;
  const double* choice;  // [words][values]
  const double* step;    // [values][values] from, to; null for no transitions

  double score(Index word, Index value, Index before) const {
    return choice[word * values + value] + (step ? step[before * values + value] : 0);
  }
};

struct Agreed {
  Side side[2];  // source words, which choose among target words, and target words
  Prices prices;

  // What the link from a word at `place` (from 1) to `other` costs, where the other direction's link of `other` goes to
  // `back`.
  double price(Index place, Index back) const {
    if (back == place) return 0;
    if (back == 0) return prices.alone;
    return back == place + 1 || back == place - 1 ? prices.adjacent : prices.apart;
  }
};

// What each word of both sides chooses.
struct Choices {
  std::vector<Index> of[2];
};

// The score in canonical order; -inf for what is forbidden.
double score_choices(const Agreed& problem, const Choices& choices);
// The sum of the magnitudes of an allowed answer's scores.
double sum_magnitudes(const Agreed& problem, const Choices& choices);

// What the score of no answer exceeds, in size: the sum of the largest finite magnitudes.
double measure_scale(const Agreed& problem);
// The gap between a bound and a score that counts as rounding: see base/rounding.hpp.
double find_allowance(const Agreed& problem, double scale);

}  // namespace certus::align
