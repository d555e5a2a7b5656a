#include "align/greedy.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/stopwatch.hpp"

namespace certus::align {

Choices intersect(const Choices& paths) {
  Choices both = paths;
  for (int s = 0; s < 2; ++s)
    for (std::size_t word = 0; word < paths.of[s].size(); ++word) {
      const Index value = paths.of[s][word];
      if (value > 0 && paths.of[1 - s][value - 1] != static_cast<Index>(word) + 1) both.of[s][word] = 0;
    }
  return both;
}

namespace {

constexpr double kRounding = 1e-12;    // of the scale of scores: less is no improvement
constexpr double kMinimumGain = 1e-9;  // of scores: what a link has to add
constexpr Index kMeasuring = 100;      // operations to measure the changes of a word's choice of one value, about

struct Choice {
  int side;
  Index word, value;
};
using Change = std::vector<Choice>;  // of different words

// Choices, and what changes of a few of them add to the score.
class Changes {
 public:
  Changes(const Agreed& problem, Choices& choices) : problem_(problem), choices_(choices) {
    for (int s = 0; s < 2; ++s) {
      linked_[s].resize(problem.side[s].words);
      for (Index other = 0; other < problem.side[1 - s].words; ++other)
        if (const Index value = choices.of[1 - s][other]; value > 0) linked_[s][value - 1].push_back(other);
    }
  }

  // Links a word and another one, or if `both` each other, or the word to nothing; partners that they have each other
  // with are let go with them.
  void plan(int s, Index word, Index value, bool both, Change& change) const {
    change.clear();
    change.push_back({s, word, value});
    if (both && value > 0) change.push_back({1 - s, value - 1, word + 1});
    if (!both) return;
    const Index old = choices_.of[s][word], other_old = value > 0 ? choices_.of[1 - s][value - 1] : 0;
    if (old > 0 && old != value && choices_.of[1 - s][old - 1] == word + 1) change.push_back({1 - s, old - 1, 0});
    if (other_old > 0 && other_old != word + 1 && choices_.of[s][other_old - 1] == value)
      change.push_back({s, other_old - 1, 0});
  }

  // What a change adds to the score, which is finite before.
  double measure(const Change& change) {
    find_terms(change);
    const double before = sum_terms();
    before_.clear();
    for (const Choice& one : change) {
      before_.push_back(choices_.of[one.side][one.word]);
      choices_.of[one.side][one.word] = one.value;
    }
    const double after = sum_terms();
    for (std::size_t k = 0; k < change.size(); ++k) choices_.of[change[k].side][change[k].word] = before_[k];
    return after - before;
  }

  void make(const Change& change) {
    for (const Choice& one : change) {
      Index& choice = choices_.of[one.side][one.word];
      if (choice > 0) std::erase(linked_[1 - one.side][choice - 1], one.word);
      choice = one.value;
      if (choice > 0) linked_[1 - one.side][choice - 1].push_back(one.word);
    }
  }

 private:
  // The words whose choices and steps, and those whose links, the score of a change depends on; each once.
  void find_terms(const Change& change) {
    chosen_.clear();
    paying_.clear();
    const auto add = [](auto& list, int s, Index word) {
      if (std::find(list.begin(), list.end(), std::pair(s, word)) == list.end()) list.emplace_back(s, word);
    };
    for (const Choice& one : change) {
      add(chosen_, one.side, one.word);
      if (problem_.side[one.side].step && one.word + 1 < problem_.side[one.side].words)
        add(chosen_, one.side, one.word + 1);
      add(paying_, one.side, one.word);
      for (const Index other : linked_[one.side][one.word]) add(paying_, 1 - one.side, other);
    }
  }
  double sum_terms() const {
    double sum = 0;
    for (const auto& [s, word] : chosen_)
      sum += problem_.side[s].score(word, choices_.of[s][word], word > 0 ? choices_.of[s][word - 1] : 0);
    for (const auto& [s, word] : paying_)
      if (const Index value = choices_.of[s][word]; value > 0)
        sum += problem_.price(word + 1, choices_.of[1 - s][value - 1]);
    return sum;
  }

  const Agreed& problem_;
  Choices& choices_;
  std::vector<std::vector<Index>> linked_[2];  // [words]: the words of the other side that choose this one
  std::vector<std::pair<int, Index>> chosen_, paying_;
  std::vector<Index> before_;
};

// Makes the best change of a word's choice, if one raises the score by more than `least`.
bool improve_word(const Agreed& problem, int s, Index word, const Dual& dual, double least, Changes& changes) {
  Change change, best;
  for (Index value = 0; value < problem.side[s].values; ++value) {
    if (!dual.is_allowed(s, word, value)) continue;
    for (const bool both : {false, true}) {
      changes.plan(s, word, value, both, change);
      if (both && change.size() == 1) continue;
      const double gain = changes.measure(change);
      if (!(gain > least)) continue;
      least = gain;
      best = change;
    }
  }
  if (best.empty()) return false;
  changes.make(best);
  return true;
}

// The best of the links that a word without one may get, if one raises the score by more than `least`, which it then
// becomes: its own with a partner's to it, next to it at most, or its own alone.
void find_link(const Agreed& problem, int s, Index word, Changes& changes, double& least, Change& best) {
  Change change;
  const auto offer = [&](const Change& made) {
    const double gain = changes.measure(made);
    if (!(gain > least)) return;
    least = gain;
    best = made;
  };
  const Index others = problem.side[1 - s].words;
  for (Index value = 1; value <= others; ++value) {
    change.assign(1, {s, word, value});
    offer(change);
    change.push_back({1 - s, value - 1, word + 1});
    for (Index other = std::max<Index>(1, value - 1); other <= std::min(others, value + 1); ++other) {
      change.back().word = other - 1;
      offer(change);
    }
  }
}

}  // namespace

Choices grow_greedily(const Agreed& problem, Choices choices, double seconds) {
  if (score_choices(problem, choices) == kNever<double>) return choices;
  Changes changes(problem, choices);
  const Stopwatch stopwatch;
  Heed heed;
  for (Change best;; best.clear()) {
    double least = kMinimumGain;
    for (int s = 0; s < 2; ++s)
      for (Index word = 0; word < problem.side[s].words; ++word) {
        if (choices.of[s][word] != 0) continue;
        heed(kMeasuring * problem.side[s].values);
        find_link(problem, s, word, changes, least, best);
      }
    if (best.empty()) return choices;
    changes.make(best);
    if (stopwatch.elapsed() > seconds) return choices;
  }
}

Choices improve_greedily(const Agreed& problem, Choices choices, const Dual& dual, double seconds) {
  if (score_choices(problem, choices) == kNever<double>) return choices;
  Changes changes(problem, choices);
  const Stopwatch stopwatch;
  Heed heed;
  for (bool improved = true; improved;) {
    improved = false;
    for (int s = 0; s < 2; ++s)
      for (Index word = 0; word < problem.side[s].words; ++word) {
        heed(kMeasuring * problem.side[s].values);
        improved |= improve_word(problem, s, word, dual, kRounding * dual.scale(), changes);
      }
    if (stopwatch.elapsed() > seconds) break;
  }
  return choices;
}

}  // namespace certus::align
