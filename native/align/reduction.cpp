#include "align/reduction.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace certus::align {

Reduction::Chain Reduction::run(const Side& side) {
  const Index words = side.words, values = side.values;
  const auto step = [&](Index from, Index to) { return side.step ? side.step[from * values + to] : 0; };
  Chain chain;
  chain.reached.assign(words * values, kNever<double>);
  chain.ahead.assign(words * values, words ? kNever<double> : 0);
  Heed heed;
  for (Index word = 0; word < words; ++word) {
    heed(values * values);
    double* reached = chain.reached.data() + word * values;
    for (Index from = 0; from < (word ? values : 1); ++from)  // before the first word is nothing
      for (Index to = 0; to < values; ++to)
        reached[to] = std::max(reached[to], (word ? reached[from - values] : 0) + step(from, to));
    for (Index to = 0; to < values; ++to) reached[to] += side.choice[word * values + to];
  }
  if (words == 0) {
    chain.best = 0;
    return chain;
  }
  std::fill_n(chain.ahead.data() + (words - 1) * values, values, 0);
  for (Index word = words - 1; word-- > 0;) {
    heed(values * values);
    const double *next = side.choice + (word + 1) * values, *later = chain.ahead.data() + (word + 1) * values;
    double* ahead = chain.ahead.data() + word * values;
    for (Index from = 0; from < values; ++from)
      for (Index to = 0; to < values; ++to) ahead[from] = std::max(ahead[from], step(from, to) + next[to] + later[to]);
  }
  chain.best = *std::max_element(chain.reached.end() - values, chain.reached.end());
  return chain;
}

void Reduction::forbid(int s, const Chain& chain, double least) {
  const Side side = problem_.side[s];
  const Index words = side.words, values = side.values;
  std::vector<double> with(step_[s].size(), kNever<double>);  // of the best path through each step
  for (Index word = 0; word < words && side.step; ++word)
    for (Index from = 0; from < (word ? values : 1); ++from)
      for (Index to = 0; to < values; ++to) {
        const double before = word ? chain.reached[(word - 1) * values + from] : 0;
        with[from * values + to] =
            std::max(with[from * values + to], before + side.score(word, to, from) + chain.ahead[word * values + to]);
      }
  for (std::size_t k = 0; k < choice_[s].size(); ++k)
    if (chain.reached[k] + chain.ahead[k] < least) choice_[s][k] = kNever<double>;
  for (std::size_t k = 0; k < with.size(); ++k)
    if (with[k] < least) step_[s][k] = kNever<double>;
}

Reduction::Reduction(const Agreed& problem, double score, double margin) : problem_(problem) {
  for (int s = 0; s < 2; ++s) {
    Side& side = problem_.side[s];
    choice_[s].assign(side.choice, side.choice + side.words * side.values);
    side.choice = choice_[s].data();
    if (!side.step) continue;
    step_[s].assign(side.step, side.step + side.values * side.values);
    side.step = step_[s].data();
  }
  const Chain chains[] = {run(problem_.side[0]), run(problem_.side[1])};
  const double least = score - margin;
  for (int s = 0; s < 2; ++s) forbid(s, chains[s], least - chains[1 - s].best);
  for (double* price : {&problem_.prices.adjacent, &problem_.prices.apart, &problem_.prices.alone})
    if (chains[0].best + chains[1].best + *price < least) *price = kNever<double>;
}

}  // namespace certus::align
