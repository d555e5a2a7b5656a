// The best pair of alignments that agree, proven: the bidirectional decoding problem of DeNero & Macherey (2011) and
// Chang et al. (2014), which is NP-hard.
//
// Source word i chooses a[i] in {0, 1, ..., J} and target word j chooses b[j] in {0, 1, ..., I}, 0 for nothing. With
// scores of choices and of transitions between neighbours' choices, what is maximised is
//
//   sum_i source[i][a_i] + source_step[a_(i-1)][a_i] + sum_j target[j][b_j] + target_step[b_(j-1)][b_j]
//     + sum over i with a_i > 0 of price(b[a_i] - i) + sum over j with b_j > 0 of price(a[b_j] - j)
//
// where a_0 = b_0 = 0, and the price of a link is 0 if the other direction has the same link, `adjacent` if its link is
// next to it in the same row or column, `apart` if it is farther away, and `alone` if there is none. Prices of -inf
// make full agreement (all three) and adjacent agreement (the last two) of the paper; finite ones are the soft
// penalties that its conclusion asks for.
#pragma once

#include <vector>

#include "align/choices.hpp"
#include "base/limits.hpp"
#include "base/status.hpp"

namespace certus::align {

struct Limits {
  Index iterations = 100;   // of dual ascent, for the problem and for each of its branches
  Index nodes = 1'000'000;  // of branching
  double seconds = kNoTimeLimit;
};

struct Alignment {
  std::vector<Index> source, target;  // what each word chooses; empty where no answer was found
  double score = kNever<double>, bound = kNever<double>;
  Status status = Status::infeasible;
  Index iterations = 0, nodes = 0, pruned = 0;
  std::vector<double> dual, primal;  // bound and score after each iteration before branching

  // Adds a search of the same problem that knew this answer.
  void go_on(Alignment later);
};

Alignment align_both(const Agreed& problem, const Limits& limits);

}  // namespace certus::align
