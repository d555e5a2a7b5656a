// The pairs of words that occur in one sentence pair: each has a number, under which its probabilities are kept.
#pragma once

#include "align/bitext.hpp"

namespace certus::align {

class Cooccurrences {
 public:
  explicit Cooccurrences(const Bitext& bitext);

  Index size() const { return static_cast<Index>(target_.size()); }
  Index sources() const { return static_cast<Index>(begin_.size()) - 1; }
  Index begin(Index source) const { return begin_[source]; }  // pairs of a source word are numbered in a row,
  Word target(Index pair) const { return target_[pair]; }     // by target word, ascending

  const std::uint32_t* cells(Index n) const { return cells_.data() + first_cell_[n]; }  // [source][target] of a pair

  const std::vector<Index>& begins() const { return begin_; }
  const std::vector<Word>& targets() const { return target_; }

 private:
  std::vector<Index> begin_;          // [sources + 1]
  std::vector<Word> target_;          // [pairs of words]
  std::vector<Index> first_cell_;     // [sentence pairs + 1]
  std::vector<std::uint32_t> cells_;  // numbers of pairs of words
};

}  // namespace certus::align
