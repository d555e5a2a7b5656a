#include "translate/language_model.hpp"

#include "base/interrupt.hpp"

namespace certus::translate {
namespace {

// Several sentences are read at once, a state each: what one waits for from memory, the others use. In each round, each
// does one step: looks for an arc that was fetched in the round before, or has it fetched.
class Lanes {
 public:
  Lanes(const Automaton& automaton, const Sentences& sentences, State begin, Ends ends)
      : automaton_(automaton), sentences_(sentences), begin_(begin), ends_(ends) {}

  // Calls report(sentence, word, score) for each word, in their order within a sentence.
  template <class Report>
  void run(const Report& report) {
    Lane lanes[kLanes];
    Index active = 0;
    while (active < kLanes && open(lanes[active])) ++active;
    while (active > 0) {
      heed_(16 * active);
      for (Index n = 0; n < active; ++n)
        if (!take_step(lanes[n], report) && !open(lanes[n])) lanes[n--] = lanes[--active];
    }
  }

 private:
  static constexpr Index kLanes = 16;
  struct Lane {
    Index sentence, place, end;
    State state;
    Word word;
    bool found;  // whether the arcs of the state are on their way
    double cost;
  };

  bool open(Lane& lane) {
    while (next_ + 1 < static_cast<Index>(sentences_.first.size())) {
      const Index n = next_++;
      lane = {n, sentences_.first[n], sentences_.first[n + 1], ends_.begin ? begin_ : kEmpty, 0, false, 0};
      if (read_word(lane)) return true;
    }
    return false;
  }
  // Whether a word is left, with </s> after the last.
  bool read_word(Lane& lane) {
    if (lane.place > lane.end || (lane.place == lane.end && !ends_.end)) return false;
    lane.word = lane.place == lane.end ? kEnd : sentences_.words[lane.place];
    lane.cost = 0;
    fetch(lane);
    return true;
  }
  void fetch(Lane& lane) const {
    lane.found = false;
    if (lane.state == kEmpty) {
      __builtin_prefetch(automaton_.score + lane.word);
      __builtin_prefetch(automaton_.next + lane.word);
    } else {
      __builtin_prefetch(automaton_.begin + lane.state);
      __builtin_prefetch(automaton_.backoff + lane.state);
      __builtin_prefetch(automaton_.suffix + lane.state);
    }
  }
  // Whether there is more to read of the sentence.
  template <class Report>
  bool take_step(Lane& lane, const Report& report) {
    if (lane.state != kEmpty && !lane.found) {
      const std::uint32_t first = automaton_.begin[lane.state];
      __builtin_prefetch(automaton_.word + (first + automaton_.begin[lane.state + 1]) / 2);
      __builtin_prefetch(automaton_.score + first);
      __builtin_prefetch(automaton_.next + first);
      lane.found = true;
      return true;
    }
    const Index arc = automaton_.find(lane.state, lane.word);
    if (arc < 0) {
      lane.cost += automaton_.backoff[lane.state];
      lane.state = automaton_.suffix[lane.state];
      fetch(lane);
      return true;
    }
    report(lane.sentence, lane.word, lane.cost + automaton_.score[arc]);
    lane.state = automaton_.next[arc];
    ++lane.place;
    return read_word(lane);
  }

  const Automaton& automaton_;
  const Sentences& sentences_;
  State begin_;
  Ends ends_;
  Index next_ = 0;
  Heed heed_;
};

}  // namespace

void LanguageModel::score_sentences(const Sentences& sentences, Ends ends, double* scores) const {
  std::fill_n(scores, sentences.first.size() - 1, 0.0);
  Lanes(automaton_, sentences, begin_, ends).run([&](Index n, Word, double score) { scores[n] += score; });
}

WordScores LanguageModel::score_words(std::span<const Word> words, Ends ends) const {
  WordScores found;
  State state = ends.begin ? begin_ : kEmpty;
  const auto add = [&](Word word) {
    const Step step = automaton_.advance(state, word);
    found.score.push_back(step.score);
    found.length.push_back(static_cast<std::int32_t>(step.length));
    found.unknown.push_back(word == kUnknown);
    state = step.state;
  };
  for (const Word word : words) add(word);
  if (ends.end) add(kEnd);
  return found;
}

void LanguageModel::add_text(std::string_view text, Likelihood& total) const {
  Sentences sentences;
  split_lines(text, [&](std::string_view line) {
    split_words(line, [&](std::string_view word) { sentences.words.push_back(vocabulary_.find(word)); });
    sentences.first.push_back(static_cast<Index>(sentences.words.size()));
  });
  add_sentences(sentences, total);
}

void LanguageModel::add_sentences(const Sentences& sentences, Likelihood& total) const {
  Sentences kept{sentences.words};
  const auto count = static_cast<Index>(sentences.first.size()) - 1;
  for (Index n = 0; n < count; ++n)
    if (sentences.first[n + 1] > sentences.first[n]) kept.first.push_back(sentences.first[n + 1]);
  const Index full = static_cast<Index>(kept.first.size()) - 1;
  total.blank += count - full;
  total.sentences += full;
  total.tokens += static_cast<Index>(kept.words.size()) + full;
  // Sums by sentence, so that the total does not depend on how sentences are interleaved.
  std::vector<double> known(full), unknown(full);
  Lanes(automaton_, kept, begin_, {}).run([&](Index n, Word word, double score) {
    (word == kUnknown ? unknown : known)[n] += score;
    total.unknown += word == kUnknown;
  });
  for (Index n = 0; n < full; ++n) total.known_score += known[n], total.unknown_score += unknown[n];
}

}  // namespace certus::translate
