#include "translate/join_costs.hpp"

#include <algorithm>

namespace certus::translate {

JoinCosts::JoinCosts(const PhraseProblem& problem, std::vector<Word> firsts, std::vector<Pair> pairs)
    : problem_(problem),
      automaton_(problem.automaton()),
      exact_(automaton_.order <= 3),
      first_words_(std::move(firsts)),
      pairs_(std::move(pairs)),
      pair_begin_(first_words_.size() + 1) {
  index_firsts();
  for (const Pair& one : pairs_) ++pair_begin_[one.first + 1];
  for (std::size_t f = 0; f < first_words_.size(); ++f) pair_begin_[f + 1] += pair_begin_[f];
  for (const Word word : first_words_) {
    const Step step = automaton_.advance(kEmpty, word);
    default_score_.push_back(step.score);
    default_after_.push_back(step.state);
  }
  for (const Pair& one : pairs_)
    default_second_.push_back(one.has_second ? score_second(default_after_[one.first], one.second) : 0);
}

void JoinCosts::index_firsts() {
  for (std::size_t f = 0; f < first_words_.size(); ++f) {
    const Word word = first_words_[f];
    first_number_.find(word) = static_cast<std::int32_t>(f);
    seen_[word / 64 % seen_.size()] |= std::uint64_t{1} << word % 64;
  }
}

// Calls take(arc, first) for each first word that a state has an arc for: looks up the words of its arcs, or where
// these are many, each first word among them from where the one before was found.
template <class Take>
void JoinCosts::match_arcs(State state, const Take& take) const {
  Index arc = automaton_.begin[state];
  const Index end = automaton_.begin[state + 1];
  if (end - arc <= 16 * firsts()) {
    for (; arc < end; ++arc) {
      const Word word = automaton_.word[arc];
      if ((seen_[word / 64 % seen_.size()] >> word % 64 & 1) == 0) continue;
      if (const std::int32_t first = first_number_.look_up(word); first >= 0) take(arc, first);
    }
    return;
  }
  for (Index f = 0; f < firsts() && arc < end; ++f) {
    arc = std::lower_bound(automaton_.word + arc, automaton_.word + end, first_words_[f]) - automaton_.word;
    if (arc < end && automaton_.word[arc] == first_words_[f]) take(arc, f);
  }
}

void JoinCosts::list_arcs(State state, std::vector<Arc>& arcs) const {
  match_arcs(state, [&](Index arc, Index first) {
    const double score =
        exact_ ? double{automaton_.score[arc]} : problem_.bounds().find(automaton_, state, first_words_[first]);
    arcs.push_back({first, problem_.weigh(score)});
  });
}

// Of a word after a state of two words, or one that stands for all contexts whose last word leads there; weighted.
double JoinCosts::score_second(State state, Word word) const {
  if (exact_) {
    double cost = 0;
    Index arc;
    while ((arc = automaton_.find(state, word)) < 0) {
      cost += automaton_.backoff[state];
      state = automaton_.suffix[state];
    }
    return problem_.weigh(cost + automaton_.score[arc]);
  }
  const WordBounds& bounds = problem_.bounds();
  return problem_.weigh(automaton_.measure_context(state) == 2
                            ? bounds.find(automaton_, state, word)
                            : bounds.slack(state) + automaton_.advance(state, word).score);
}

constexpr Index kFew = 8;  // arcs that are looked at one after the other

// The second words of a first word, after a state in which it was read.
void JoinCosts::score_seconds(State after, Index first, double* seconds) const {
  const bool backs_off = exact_ && automaton_.suffix[after] == default_after_[first];
  const double backoff = backs_off ? problem_.weigh(automaton_.backoff[after]) : 0;
  const Word *arc = automaton_.word + automaton_.begin[after], *const end =
                                                                   automaton_.word + automaton_.begin[after + 1];
  for (Index p = pair_begin_[first]; p < pair_begin_[first + 1]; ++p) {
    const auto [_, word, has_second] = pairs_[p];
    if (!has_second) continue;
    if (!backs_off) {
      seconds[p] = score_second(after, word);
      continue;
    }
    if (end - arc > kFew) arc = std::lower_bound(arc, end, word);  // words are in increasing order
    while (arc < end && *arc < word) ++arc;
    seconds[p] = arc < end && *arc == word ? problem_.weigh(double{automaton_.score[arc - automaton_.word]})
                                           : backoff + default_second_[p];
  }
}

void JoinCosts::fill(std::span<const State> sources, const Deadline& deadline) {
  first_.reserve(sources.size() * first_words_.size());
  after_.reserve(sources.size() * first_words_.size());
  second_.reserve(sources.size() * pairs_.size());
  for (const State state : sources) {
    deadline.check();
    add_source(state);
  }
}

void JoinCosts::add_source(State state) {
  const bool joins = automaton_.order > 1;  // else no word sees what stands before it
  const double slack = exact_ ? 0 : problem_.bounds().slack(state);
  const double backoff = (state == kEmpty ? 0 : double{automaton_.backoff[state]});
  for (const double score : default_score_) first_.push_back(joins ? problem_.weigh(backoff + score + slack) : 0);
  after_.insert(after_.end(), default_after_.begin(), default_after_.end());
  second_.insert(second_.end(), default_second_.begin(), default_second_.end());
  if (state == kEmpty || !joins) return;
  double *const first = (first_.data() + first_.size()) - firsts(), *const seconds =
                                                                        (second_.data() + second_.size()) - pairs();
  State* const after = (after_.data() + after_.size()) - firsts();
  match_arcs(state, [&](Index arc, Index f) {
    first[f] = problem_.weigh(double{automaton_.score[arc]} + slack);
    if (automaton_.next[arc] == default_after_[f]) return;
    after[f] = automaton_.next[arc];
    score_seconds(after[f], f, seconds);
  });
}

}  // namespace certus::translate
