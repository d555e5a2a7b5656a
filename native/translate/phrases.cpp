#include "translate/phrases.hpp"

#include <algorithm>
#include <numeric>

#include "base/interrupt.hpp"

namespace certus::translate {

PhraseProblem::PhraseProblem(PhraseOptions options, const LanguageModel& model, PhraseWeights weights)
    : options_(std::move(options)),
      automaton_(model.automaton()),
      model_(&model),
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

// The most that a phrase scores after any context and jump.
double PhraseProblem::bound_option(Option o) const {
  const std::span<const Word> words = options_.list_target(o);
  const auto joined = std::min(static_cast<Index>(words.size()), automaton_.order - 1);
  double total = 0;
  for (Index n = 0; n < joined; ++n) total += bounds().find(automaton_, words.first(n), words[n]);
  const Index farthest = weights_.limit < 0 ? this->words() : std::min(weights_.limit, this->words());
  return base_[o] + weigh(total) + std::max(0.0, jump(0, farthest));
}

// best[e] = max over phrases of words b to e of best[b] + the bound of the phrase
double PhraseProblem::bound_derivations() const {
  std::vector<Option> order(options_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](Option o) { return options_.begin[o]; });
  std::vector<double> best(words() + 1, kNever<double>);
  best[0] = 0;
  Heed heed;
  for (const Option o : order) {
    if (best[options_.begin[o]] == kNever<double>) continue;
    double& after = best[options_.end[o]];
    after = std::max(after, best[options_.begin[o]] + bound_option(o));
    heed(64 * automaton_.order);
  }
  return best.back() + weigh(bounds().find(automaton_, std::span<const Word>(), kEnd));
}

Index PhraseProblem::find_uncovered() const {
  std::vector<char> covered(words());
  for (Option o = 0; o < options_.size(); ++o)
    std::fill(covered.begin() + options_.begin[o], covered.begin() + options_.end[o], 1);
  const auto found = std::find(covered.begin(), covered.end(), 0);
  return found == covered.end() ? -1 : found - covered.begin();
}

}  // namespace certus::translate
