// A chain whose labels have latent states: each state belongs to one label, and only labels are seen.
//
//   P(h | x) = exp(score(h)) / Z  for a path h of states,     P(y | x) = sum over the paths h of the labels y of P(h | x)
//
// (Sun & Tsujii 2009, equations 2 and 3). The states of label y are begin[y] .. begin[y + 1] - 1.
#pragma once

#include <vector>

#include "learn/crf_math.hpp"
#include "run.hpp"

namespace certus::latent {

class LatentModel {
 public:
  // transitions [H][H] (-inf forbids); start and end [H] may be null; begin [labels + 1].
  LatentModel(const double* transitions, std::vector<Index> begin, const double* start, const double* end);

  Index states() const { return static_cast<Index>(owner_.size()); }
  Index labels() const { return static_cast<Index>(begin_.size()) - 1; }
  Index width() const { return width_; }  // of a row of states: whole vectors
  Index begin(Index label) const { return begin_[label]; }
  Index count(Index label) const { return begin_[label + 1] - begin_[label]; }
  Index room() const { return whole_vectors(most_); }  // for the states of any one label
  Label owner(Index state) const { return owner_[state]; }
  const Model<double>& chain() const { return chain_; }

  const Doubles& score() const { return score_; }    // [H][width], -inf past the states
  const Doubles& score_across() const { return score_across_; }
  const Doubles& link() const { return link_; }      // [H][width] and a vector: exp(score - largest), 0 past the states
  const Doubles& across() const { return across_; }  // its transpose
  double largest() const { return largest_; }        // of the transitions that are not forbidden
  double span() const { return span_; }              // the largest less the least of those
  bool forbids() const { return forbids_; }          // whether there are others

 private:
  std::vector<Index> begin_;
  std::vector<Label> owner_;
  Index width_, most_ = 0;
  Model<double> chain_;
  Doubles score_, score_across_, link_, across_;
  double largest_ = 0, span_ = 0;
  bool forbids_ = false;
};

}  // namespace certus::latent
