// A labelled corpus and the weights it gives rise to.
#pragma once

#include <algorithm>

#include "learn/crf_chain.hpp"

namespace certus {

struct CrfChoice {  // which pairs get a weight
  double min_freq = 0;           // of a feature with a label, or of two labels in a row, to be given one
  bool all_states = false;       // every label with every feature, seen together or not
  bool all_transitions = false;  // every two labels
  Index latent = 1;              // states of each label: what a label has a weight for, all of its states have
};

// gold [tokens]: the labels. The layout is one over states, of which a label y has latent ones from y latent on.
CrfLayout crf_layout(Index labels, Index features, const CrfTokens& tokens, const Label* gold, const CrfChoice& choice);

struct CrfData {
  CrfData(Index labels, Index features, const CrfTokens& tokens, const Label* labels_of_tokens, const CrfChoice& choice)
      : layout(crf_layout(labels, features, tokens, labels_of_tokens, choice)),
        input(layout, tokens),
        gold(labels_of_tokens, labels_of_tokens + tokens.tokens()),
        latent(choice.latent) {
    for (Index s = 0; s < input.sentences(); ++s) longest = std::max(longest, input.length(s));
  }

  // The scores of a sentence, [T][width].
  void score(const double* w, Index sentence, double* scores) const {
    const Index first = input.sentence_begin[sentence];
    for (Index t = 0; t < input.length(sentence); ++t)
      crf_score(layout, w, input, first + t, scores + t * layout.width());
  }
  const Label* labels(Index sentence) const { return gold.data() + input.sentence_begin[sentence]; }

  CrfLayout layout;
  CrfInput input;
  std::vector<Label> gold;
  Index latent;
  Index longest = 0;
};

}  // namespace certus
