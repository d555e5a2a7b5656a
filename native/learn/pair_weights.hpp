// The weights of features of two labels in a row (Kaji et al. 2010, section 4: bigram features that depend on the
// tokens), while they are learned. A feature of a token is of its label and of the one before it.
#pragma once

#include <vector>

#include "learn/rows.hpp"
#include "learn/update.hpp"

namespace certus::learn {

class PairWeights {
 public:
  PairWeights(const Corpus& corpus, Index labels, float least)
      : rows(corpus.feature_count(), labels * labels),
        corpus_(corpus),
        labels_(labels),
        update_(labels * labels, least) {}

  // Adds the weights of a token's features to the transitions into it, [labels][labels].
  void score(Index token, float* transitions) const {
    const Feature* const features = corpus_.features.data();
    for (Index i = corpus_.token[token]; i < corpus_.token[token + 1]; ++i) rows.score(features[i], transitions);
  }

  // Raises the weights of one transition into a token by a step, and lowers those of another.
  template <class Change>
  void update(Index token, Label right, Label next_right, Label wrong, Label next_wrong, const Change& change) {
    update_.clear();
    update_.add_unit(pair(right, next_right), 1);
    update_.add_unit(pair(wrong, next_wrong), -1);
    const Feature* const features = corpus_.features.data();
    update_.apply(rows, features + corpus_.token[token], features + corpus_.token[token + 1], change);
  }

  const Corpus& corpus() const { return corpus_; }
  Index pairs() const { return labels_ * labels_; }

  Rows rows;

 private:
  Unit pair(Label i, Label j) const { return static_cast<Unit>(i * labels_ + j); }

  const Corpus& corpus_;
  Index labels_;
  Update update_;
};

}  // namespace certus::learn
