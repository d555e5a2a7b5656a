// The dual decomposition of DeNero & Macherey (2011): two chains that each choose links c for both directions.
//
// In either copy of c, the link that a word chooses is there, and those next to it in its row or column may be, at the
// price of adjacent agreement; multipliers u(i, j) ask the copies to be the same. Where they are, the two chains' paths
// are the best pair of alignments; where they never are, a rule has to merge the two.
#pragma once

#include "align/bidirectional.hpp"

namespace certus::align {

struct DecomposedAlignment : Alignment {        // with choices only where the copies were the same
  std::vector<std::uint8_t> backward, forward;  // [source words][target words]: the copies of the last iteration

  void go_on(DecomposedAlignment later);
};

// Steps are 1 / t. Prices have to be those of full or adjacent agreement: `apart` and `alone` are -inf.
DecomposedAlignment align_decomposed(const Agreed& problem, Index iterations, double seconds);

}  // namespace certus::align
