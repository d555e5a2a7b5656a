// Label sequences that were found, each once, with their probabilities.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.hpp"

namespace certus::latent {

class Sequences {
 public:
  // `k`: how many of the best are kept in order.
  Sequences(Index length, Index k) : length_(length), k_(k), slots_(64, -1) {}

  Index size() const { return static_cast<Index>(log_.size()); }
  const Label* labels(Index n) const { return labels_.data() + n * length_; }
  double log_probability(Index n) const { return log_[n]; }
  double mass() const { return mass_; }  // of all together

  // Whether there is one like this.
  bool has(const Label* labels) { return slots_[asked_ = place(labels)] >= 0; }
  // One that is new: what `has` was asked for last.
  void add(const Label* labels, double log_probability);

  // The k-th best log-probability; -inf while there are fewer.
  double least() const { return static_cast<Index>(best_.size()) < k_ ? kNever<double> : log_[best_.back()]; }
  // The numbers of the k best, best first; the one found first among equals.
  const std::vector<Index>& best() const { return best_; }
  // The numbers of all, in that order.
  std::vector<Index> ranked() const;

 private:
  std::size_t place(const Label* labels) const;
  void grow();

  Index length_, k_;
  std::vector<Label> labels_;  // [size][T]
  std::vector<double> log_;
  std::vector<Index> slots_;  // a power of two, at most half full: a number, or -1
  std::size_t asked_ = 0;     // the slot that was looked at last
  std::vector<Index> best_;
  double mass_ = 0;
};

}  // namespace certus::latent
