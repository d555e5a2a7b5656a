// What n-grams of coarse tags add at most, where the tags before them are those of candidates.
//
// Coarse tags are few and most of their n-grams have a weight; over all tags that may come before, the largest weights
// are far above those that the candidates of a sentence allow. So what is longer than two tags is bounded over the
// candidates' tags,
//
//   longer_t(h, i) = max over the tags g of candidates at t - 2 of weight(g, h, i) + what longer n-grams may add,
//
// and a label that is no candidate pays for what its tag may add to this two positions later: `excess`.
#pragma once

#include <vector>

#include "scoring/ngram_bounds.hpp"

namespace certus::scoring {

struct Level;

class CoarseContexts {
 public:
  // For the candidates that are the states of order 1.
  void find(const Level& one, const Tagset& tagset, const NgramBounds& bounds, Index order);

  // What n-grams may add that are longer than two tags and end with those of these states, which are of neighbouring
  // positions, the last of position t.
  float above(Index t, std::uint32_t r, std::uint32_t s) const {
    return pairs_[pair_begin_[t] + tag_[r] * count(t) + tag_[s]];
  }
  // What a label of a coarse tag may add that is no candidate, at position t; by coarse tags that are told apart.
  const double* excess(Index t) const { return excess_.data() + t * bounds_->stride(); }

 private:
  std::size_t count(Index t) const { return begin_[t + 1] - begin_[t]; }
  const Unit* tags(Index t) const { return tags_.data() + begin_[t]; }
  void list_tags(const Level& one, const Tagset& tagset);
  void find_pairs(Index t);
  float find_longer(Index t, Unit before, Unit tag) const;
  float weigh(Unit first, Unit before, Unit tag) const;
  void find_excess(Index t);

  const NgramBounds* bounds_ = nullptr;
  Index order_ = 0;
  bool merged_ = false;             // whether coarse tags are not told apart
  std::vector<std::size_t> begin_;  // [positions + 1]
  std::vector<Unit> tags_;          // of candidates, each once
  std::vector<std::uint32_t> tag_;  // [states of order 1]: which of those of its position
  std::vector<std::size_t> pair_begin_;
  std::vector<float> pairs_;
  std::vector<double> excess_;      // [positions][stride]
  std::vector<float> most_excess_;  // [groups]
};

}  // namespace certus::scoring
