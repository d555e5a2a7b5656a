// A labelled corpus and the weights it gives rise to.
#pragma once

#include <algorithm>
#include <optional>

#include "learn/crf/factored.hpp"

namespace certus::learn {

struct CrfChoice {               // which pairs get a weight
  double min_freq = 0;           // of a feature with a label, or of two labels in a row, to be given one
  bool all_states = false;       // every label with every feature, seen together or not
  bool all_transitions = false;  // every two labels
  Index latent = 1;              // states of each label: what a label has a weight for, all of its states have
  bool shared_pairs = false;     // features of pairs have weights for labels, which all their states share
};

// gold [tokens]: the labels. The layout is one over states, of which a label y has latent ones from y latent on.
CrfLayout crf_layout(Index labels, Index features, const Corpus& corpus, const Label* gold, const CrfChoice& choice);

// Features of two labels in a row,
//   score(y | x) = ... + sum_{t >= 1} sum_{f in pairs of x_t} value(f) pair[f][y_{t-1}][y_t],
// as rows over pairs: the pair of i and j, states or labels, is column i width + j, where rows of them are width long.
// The features of the first token of a sentence count for nothing.
struct CrfPairs {
  CrfPairs(Index labels, Index features, const Corpus& corpus, const Label* gold, const CrfChoice& choice);

  Index sharing;       // how many states share the weights of a label: 1 where each has its own
  Index count, width;  // of what the pairs are of
  CrfLayout layout;
  CrfInput input;
};

struct CrfData {
  CrfData(Index labels, Index features, const Corpus& corpus, const Label* labels_of_tokens, const CrfChoice& choice)
      : layout(crf_layout(labels, features, corpus, labels_of_tokens, choice)),
        input(layout, corpus),
        gold(labels_of_tokens, labels_of_tokens + corpus.tokens()),
        latent(choice.latent) {
    for (Index s = 0; s < input.sentences(); ++s) longest = std::max(longest, input.length(s));
  }

  // The weights, holes included: those of the layout, then those of pairs.
  Index size() const { return layout.size() + (pairs ? pairs->layout.size() : 0); }
  void clear_holes(double* w) const {
    layout.clear_holes(w);
    if (pairs) pairs->layout.clear_holes(w + layout.size());
  }

  // The scores of a sentence, [T][width].
  void score(const double* w, Index sentence, double* scores) const {
    const Index first = input.sentence_begin[sentence];
    for (Index t = 0; t < input.length(sentence); ++t)
      crf_score(layout, w, input, first + t, scores + t * layout.width());
  }
  // With features of pairs: the scores of its steps, transitions included, [T - 1][states][width].
  void score_steps(const double* w, Index sentence, double* scores) const;
  // Where all states of a label share them: the factors of a sentence's steps, written to factor [T -
  // 1][labels][width], and what the gold labels score by features of pairs.
  CrfFactors factors(const double* w, Index sentence, double* factor, double* gold_score) const;
  // [states][width] to [labels][width of labels]: sums over the states that share weights.
  void share_pairs(const double* of_states, double* of_labels) const;
  const Label* labels(Index sentence) const { return gold.data() + input.sentence_begin[sentence]; }

  CrfLayout layout;
  CrfInput input;
  std::optional<CrfPairs> pairs;
  std::vector<Label> gold;
  Index latent;
  Index longest = 0;
};

}  // namespace certus::learn
