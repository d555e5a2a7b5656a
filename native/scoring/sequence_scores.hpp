// The scores of label sequences as sums in double precision of what a model has in single precision: of the labels
// themselves, and of all n-grams. Lattices add up some of these in single precision on the way.
#pragma once

#include <vector>

#include "scoring/cascade.hpp"

namespace certus::scoring {

class SequenceScores {
 public:
  // Of labels of [T], after a search; `units` are the scores of units at each token, which are asked for only where a
  // label is no candidate.
  template <class Units>
  double add_up(const Cascade& cascade, const NgramTable& ngrams, Index order, const Label* labels,
                const Units& units) {
    double sum = 0;
    for (Index t = 1; t <= cascade.length(); ++t) {
      const Label y = labels[t - 1];
      const double* const known = cascade.find_score(t, y);
      sum += known ? *known : static_cast<double>(cascade.tagset().score(y, units(t)));
    }
    return sum + add_ngrams(cascade, ngrams, order, labels);
  }

 private:
  double add_ngrams(const Cascade& cascade, const NgramTable& ngrams, Index order, const Label* labels);

  std::vector<Key> keys_;
};

}  // namespace certus::scoring
