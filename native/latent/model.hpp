// A chain whose labels have latent states: each state belongs to one label, and only labels are seen.
//
//   P(h | x) = exp(score(h)) / Z  for a path h of states,
//   P(y | x) = sum over the paths h of the labels y of P(h | x)
//
// (Sun & Tsujii 2009, equations 2 and 3). The states of label y are begin[y] .. begin[y + 1] - 1. A sentence may have
// scores of its own for the pairs of states at each of its steps, which the transitions of the model are then added to.
#pragma once

#include <vector>

#include "base/aligned.hpp"
#include "latent/moves.hpp"

namespace certus::latent {

// Scores of pairs at each step of a sentence, in one precision or the other, or none at all: of states, [T - 1][H][H],
// or of labels, [T - 1][L][L], which all their states share.
struct Pairs {
  const float* singles = nullptr;
  const double* doubles = nullptr;
  Index count = 0;  // of states, or of labels
  bool of_labels = false;

  // Those from a later step on.
  Pairs into(Index step) const {
    const Index at = step * count * count;
    return {singles ? singles + at : nullptr, doubles ? doubles + at : nullptr, count, of_labels};
  }
  explicit operator bool() const { return singles || doubles; }
};

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

  const Moves& moves() const { return moves_; }
  // The transitions of a sentence of T > 1 positions that has scores of its own.
  Moves moves(const Pairs& pairs, Index T) const;
  const double* start() const { return moves_.chain().start(); }
  const double* end() const { return moves_.chain().end(); }
  const Doubles& link() const { return link_; }      // [H][width] and a vector: exp(score - largest), 0 past the states
  const Doubles& across() const { return across_; }  // its transpose

 private:
  std::vector<Index> begin_;
  std::vector<Label> owner_;
  Index width_, most_ = 0;
  Moves moves_;
  Doubles link_, across_;
};

}  // namespace certus::latent
