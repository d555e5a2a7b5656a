// The pairs of stems that occur together, as the pairs of words do that have them.
#pragma once

#include "align/cooccurrences.hpp"
#include "align/similarity.hpp"

namespace certus::align {

class StemPairs {
 public:
  StemPairs(const Cooccurrences& words, const Stems& source, const Stems& target);

  Index size() const { return static_cast<Index>(second_.size()); }
  Index sources() const { return static_cast<Index>(begin_.size()) - 1; }     // stems of source words
  Index begin(Index source) const { return begin_[source]; }                  // pairs of a source stem are in a row,
  std::uint32_t second(Index pair) const { return second_[pair]; }            // by target stem, ascending
  std::uint32_t number(Index word_pair) const { return number_[word_pair]; }  // of the pair of stems of a pair of words

 private:
  std::vector<Index> begin_;           // [source stems + 1]
  std::vector<std::uint32_t> second_;  // [pairs of stems]: target stems
  std::vector<std::uint32_t> number_;  // [pairs of words]
};

}  // namespace certus::align
