// Phrase-based translation of one sentence: the phrases that may translate its spans, and what a sequence of them
// costs.
//
// A derivation is a sequence of phrases that translate each source word exactly once. Its score is the sum of the
// scores of its phrases, of the weighted log probability of their target words from <s> to </s>, and of
//   -distortion |begin(p) - end(p')|
// for each phrase p after p' (after place 0 for the first one). Where there is a limit, no such distance exceeds it.
#pragma once

#include <cstdlib>
#include <span>
#include <vector>

#include "translate/language_model.hpp"

namespace certus::translate {

using Option = std::int32_t;  // a phrase among those of a sentence

// The phrases of a sentence, in the order of their spans.
struct PhraseOptions {
  Index words = 0;                       // of the source
  std::vector<std::int32_t> begin, end;  // [options] the source words that each translates
  std::vector<double> score;             // [options]
  std::vector<Index> first{0};           // [options + 1] where the target words of each begin
  std::vector<Word> target, text;        // [target words] as the language model knows them, and as people read them

  Index size() const { return static_cast<Index>(begin.size()); }
  std::span<const Word> list_target(Option o) const {
    return {target.data() + first[o], static_cast<std::size_t>(first[o + 1] - first[o])};
  }
  std::span<const Word> list_text(Option o) const {
    return {text.data() + first[o], static_cast<std::size_t>(first[o + 1] - first[o])};
  }
};

// What weighs how much, and how far a jump may go.
struct PhraseWeights {
  double language_model = 1;  // not negative
  double distortion = 0;      // of -1 per word of distance
  Index limit = -1;           // of a distance; negative for none
};

// Phrases with the part of their costs that no context changes.
class PhraseProblem {
 public:
  PhraseProblem(PhraseOptions options, const LanguageModel& model, PhraseWeights weights);
  // The same with another limit of jumps.
  PhraseProblem(const PhraseProblem& other, PhraseWeights weights) : PhraseProblem(other) { weights_ = weights; }

  const PhraseOptions& options() const { return options_; }
  const Automaton& automaton() const { return automaton_; }
  const WordBounds& bounds() const { return model_->bounds(); }
  const PhraseWeights& weights() const { return weights_; }
  State begin() const { return begin_; }
  Index words() const { return options_.words; }
  // The score of a phrase with that of the target words whose context is inside of it.
  double base(Option o) const { return base_[o]; }
  // The state after a phrase of at least order - 1 target words.
  State tail(Option o) const { return tail_[o]; }
  bool allows(Index end, Index begin) const { return weights_.limit < 0 || std::abs(begin - end) <= weights_.limit; }
  double jump(Index end, Index begin) const {
    return -weights_.distortion * static_cast<double>(std::abs(begin - end));
  }

  struct Extension {
    double score;  // of the phrase and of the language model, without the jump
    State state;
  };
  // Appends a phrase to what ends in a state.
  Extension extend(State state, Option o) const;
  double finish(State state) const { return weigh(automaton_.score_end(state)); }
  double weigh(double probability) const {
    return weights_.language_model == 0 ? 0 : weights_.language_model * probability;
  }
  // The score of a whole derivation, summed from left to right.
  double score(std::span<const Option> derivation) const;
  // Whether each source word is translated exactly once, and no jump is too far.
  bool is_valid(std::span<const Option> derivation) const;
  // A bound of all derivations: the best segmentation of the source into phrases, each with the best that its target
  // words score after any context. -inf where there is no segmentation.
  double bound_derivations() const;
  // A source word that no phrase translates, or -1.
  Index find_uncovered() const;

 private:
  PhraseOptions options_;
  Automaton automaton_;
  const LanguageModel* model_;
  PhraseWeights weights_;
  State begin_;
  double bound_option(Option o) const;

  std::vector<double> base_;  // [options]
  std::vector<State> tail_;   // [options] the state after one of at least order - 1 target words
};

}  // namespace certus::translate
