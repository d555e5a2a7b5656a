// An n-gram model as a deterministic automaton with back-off arcs.
//
// A state is a context: a sequence of words that something is known about, the longest such suffix of all words so far.
// The empty context is state 0. An arc of a state is a word that was seen after its context, with its log probability
// and the state that it leads to. Where a word has no arc, the back-off arc leads to the state of the context without
// its first word (or without more of them, where nothing is known about what is left), at the price of `backoff`; state
// 0 has an arc for each word. Contexts after which nothing was seen, and backing off from which costs nothing, are no
// states: so two histories that differ in nothing that matters to any future share their state.
#pragma once

#include <vector>

#include "translate/ngrams.hpp"

namespace certus::translate {

using State = std::uint32_t;
inline constexpr State kEmpty = 0;

// The arrays of an automaton. States are numbered by the length of their contexts; arcs lie in the order of their
// states, those of a state in the order of their words.
struct Tables {
  std::vector<Index> ends;           // [order] the state after the last one whose context has so many words
  std::vector<std::uint32_t> begin;  // [states + 1] the first arc of each
  std::vector<State> suffix;         // [states] where the back-off arc leads; 0 for state 0
  std::vector<float> backoff;        // [states]
  std::vector<Word> word;            // [arcs]
  std::vector<float> score;          // [arcs]
  std::vector<State> next;           // [arcs]
};

Tables make_tables(const Ngrams& ngrams);

// What a word costs in a state, and where it leads.
struct Step {
  double score;
  State state;
  Index length;  // of the n-gram that the score is of: 1 for a single word
};

// Views of the arrays of Tables, which somebody else owns. Every number in them is within its range, and a suffix is
// before its state.
struct Automaton {
  Index order = 0, states = 0, arcs = 0, words = 0;
  const Index* ends = nullptr;
  const std::uint32_t* begin = nullptr;
  const State* suffix = nullptr;
  const float* backoff = nullptr;
  const Word* word = nullptr;
  const float* score = nullptr;
  const State* next = nullptr;

  // The arc of a state for a word, or -1.
  Index find(State state, Word sought) const {
    if (state == kEmpty) return sought;
    const Word *low = word + begin[state], *const end = word + begin[state + 1];
    for (Index count = end - low, half = count / 2; count > kFew; count -= half, half = count / 2)
      low += low[half] <= sought ? half : 0;
    for (const Word* const last = std::min(low + kFew, end); low < last; ++low)
      if (*low == sought) return low - word;
    return -1;
  }

  // The words in the context of a state.
  Index measure_context(State state) const {
    Index length = 0;
    while (length + 1 < order && state >= ends[length]) ++length;
    return length;
  }

  // The log probability of the end of a sentence, whose number is so low that its arc is among the first of a state.
  double score_end(State state) const {
    double cost = 0;
    for (;; state = suffix[state]) {
      Index arc = begin[state];
      const Index last = begin[state + 1];
      while (arc < last && word[arc] < kEnd) ++arc;
      if (arc < last && word[arc] == kEnd) return cost + score[arc];
      cost += backoff[state];
    }
  }

  Step advance(State state, Word sought) const {
    double cost = 0;
    for (;; state = suffix[state]) {
      const Index arc = find(state, sought);
      if (arc >= 0) return {cost + score[arc], next[arc], measure_context(state) + 1};
      cost += backoff[state];
    }
  }

 private:
  static constexpr Index kFew = 8;  // arcs that are looked at one after the other
};

// Where each state comes from: the shorter context, and the last word. State 0 comes from itself.
struct Origins {
  std::vector<State> state;  // [states]
  std::vector<Word> word;    // [states]

  explicit Origins(const Automaton& automaton);
};

}  // namespace certus::translate
