#include "translate/word_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

// A float that is not below a sum.
float add_up(float a, float b) {
  const float sum = a + b;
  return b == 0 || std::isinf(sum) ? sum : std::nextafter(sum, std::numeric_limits<float>::infinity());
}

}  // namespace

WordBounds::WordBounds(const Automaton& automaton)
    : highest_(automaton.score, automaton.score + automaton.arcs), slack_(automaton.states) {
  Heed heed;
  // Extensions have higher numbers: each state is complete when it is handed on to its suffix.
  for (Index s = automaton.states - 1; s >= 0; --s) {
    const Index first = automaton.begin[s], last = automaton.begin[s + 1];
    if (slack_[s] > 0)
      for (Index arc = first; arc < last; ++arc)
        highest_[arc] = std::max(highest_[arc], add_up(automaton.score[arc], slack_[s]));
    if (s == 0) break;
    const State shorter = automaton.suffix[s];
    slack_[shorter] = std::max(slack_[shorter], add_up(automaton.backoff[s], slack_[s]));
    for (Index arc = first; arc < last; ++arc) {
      const Index other = automaton.find(shorter, automaton.word[arc]);
      if (other >= 0) highest_[other] = std::max(highest_[other], highest_[arc]);
    }
    heed(64 * (last - first) + 16);
  }
}

double WordBounds::find(const Automaton& automaton, State state, Word word) const {
  const Index arc = automaton.find(state, word);
  return arc >= 0 ? highest_[arc] : double{slack_[state]} + automaton.advance(state, word).score;
}

double WordBounds::find(const Automaton& automaton, std::span<const Word> context, Word word) const {
  State state = kEmpty;
  for (const Word before : context) state = automaton.advance(state, before).state;
  const Index whole = std::min(static_cast<Index>(context.size()), automaton.order - 1);
  if (automaton.measure_context(state) == whole) return find(automaton, state, word);
  return double{slack_[state]} + automaton.advance(state, word).score;
}

}  // namespace certus::translate
