// The links of a pair: the best choices of both directions that agree, by their posterior probabilities.
#pragma once

#include "align/agreement.hpp"
#include "align/bidirectional.hpp"

namespace certus::align {

// The score of a choice is log(posterior + floor); that of nothing gets `null` on top.
struct Decoding {
  Prices prices{-2, -4, -3};
  double floor = 1e-3;
  double null = 0.5;
  Limits limits;
};

struct Link {
  Index source, target;
  float probability;  // the mean of both directions'
};

struct Links {
  std::vector<Link> links;  // what one of the directions chooses, by source and target
  Alignment alignment;
};

// The most probable link of each word of side d, where that is more probable than none; by source and target.
void choose_links(const Pair& pair, const Agreement& agreement, int d, std::vector<Link>& links);

Links decode_posteriors(const Pair& pair, const Agreement& agreement, const Decoding& decoding);

}  // namespace certus::align
