#include "translate/phrases.hpp"

#include <algorithm>

namespace certus::translate {

PhraseProblem::PhraseProblem(PhraseOptions options, const LanguageModel& model, const WordBounds* bounds,
                             PhraseWeights weights)
    : options_(std::move(options)),
      automaton_(model.automaton()),
      bounds_(bounds),
      weights_(weights),
      begin_(model.begin()),
      base_(options_.size()),
      tail_(options_.size(), kEmpty) {
  for (Option o = 0; o < options_.size(); ++o) {
    double inner = 0;
    State state = kEmpty;
    Index place = 0;
    for (const Word word : options_.list_target(o)) {
      const Step step = automaton_.advance(state, word);
      if (++place >= automaton_.order) inner += step.score;
      state = step.state;
    }
    base_[o] = options_.score[o] + weigh(inner);
    tail_[o] = state;
  }
}

PhraseProblem::Extension PhraseProblem::extend(State state, Option o) const {
  const std::span<const Word> words = options_.list_target(o);
  const auto joined = std::min(static_cast<Index>(words.size()), automaton_.order - 1);
  double score = 0;
  for (Index n = 0; n < joined; ++n) {
    const Step step = automaton_.advance(state, words[n]);
    score += step.score;
    state = step.state;
  }
  const bool whole = static_cast<Index>(words.size()) > joined;
  return {base_[o] + weigh(score), whole ? tail_[o] : state};
}

double PhraseProblem::score(std::span<const Option> derivation) const {
  double total = 0;
  Index end = 0;
  State state = begin_;
  for (const Option o : derivation) {
    const Extension found = extend(state, o);
    total += jump(end, options_.begin[o]) + found.score;
    state = found.state;
    end = options_.end[o];
  }
  return total + finish(state);
}

bool PhraseProblem::is_valid(std::span<const Option> derivation) const {
  std::vector<char> covered(words());
  Index end = 0, count = 0;
  for (const Option o : derivation) {
    if (!allows(end, options_.begin[o])) return false;
    end = options_.end[o];
    for (Index i = options_.begin[o]; i < end; ++i, ++count)
      if (covered[i]++) return false;
  }
  return count == words();
}

Index PhraseProblem::find_uncovered() const {
  std::vector<char> covered(words());
  for (Option o = 0; o < options_.size(); ++o)
    std::fill(covered.begin() + options_.begin[o], covered.begin() + options_.end[o], 1);
  const auto found = std::find(covered.begin(), covered.end(), 0);
  return found == covered.end() ? -1 : found - covered.begin();
}

}  // namespace certus::translate
