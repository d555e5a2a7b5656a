// The words of a forest in few parts, such that words that were taken for each other are in different parts (Rush &
// Collins 2011, section 6). A context is what is known of the words before a leaf: the part of each.
//
// The paper divides leaves. Words are enough: leaves with the same word are alike to the language model, so that a
// derivation all of whose leaves chose words as they are has its true score, whatever multipliers add.
#pragma once

#include <algorithm>

#include "translate/hierarchical/neighbour_scores.hpp"

namespace certus::translate {

class WordPartition {
 public:
  // All words in one part.
  WordPartition(Index words, int places) : places_(places), part_(words), others_(words) {}

  Index parts() const { return parts_; }
  Index contexts() const { return contexts_; }  // parts to the power of places
  Index find_part(Opening word) const { return part_[word]; }
  // The context after one more word.
  Index advance(Index context, Opening word) const { return (context * parts_ + part_[word]) % contexts_; }

  // Notes that two words have to be in different parts.
  void separate(Opening a, Opening b) {
    if (a == b || std::ranges::find(others_[a], b) != others_[a].end()) return;
    others_[a].push_back(b);
    others_[b].push_back(a);
    changed_ = changed_ || part_[a] == part_[b];
  }
  // Makes parts anew, if some of what was noted is not so yet. Returns whether it did.
  bool refine();

 private:
  int places_;
  Index parts_ = 1, contexts_ = 1;
  bool changed_ = false;
  std::vector<Index> part_;                   // [words]
  std::vector<std::vector<Opening>> others_;  // [words] those that must be in other parts
};

}  // namespace certus::translate
