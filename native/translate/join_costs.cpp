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

// Calls take(arc, first) for each first word that a state has an arc for: looks up those of the shorter list in the
// longer one, from where the one before was found.
template <class Take>
void JoinCosts::match_arcs(State state, const Take& take) const {
  const Word *arc = automaton_.word + automaton_.begin[state], *const end =
                                                                   automaton_.word + automaton_.begin[state + 1];
  const Word *first = first_words_.data(), *const last = first + first_words_.size();
  const bool few = end - arc < last - first;
  while (arc < end && first < last) {
    if (*arc == *first) {
      take(arc - automaton_.word, first - first_words_.data());
      ++arc, ++first;
    } else if (few) {
      first = std::lower_bound(first, last, *arc);
      if (first < last && *first != *arc) ++arc;
    } else {
      arc = std::lower_bound(arc, end, *first);
      if (arc < end && *arc != *first) ++first;
    }
  }
}

std::vector<JoinCosts::Arc> JoinCosts::list_arcs(State state) const {
  std::vector<Arc> found;
  match_arcs(state, [&](Index arc, Index first) {
    const double score =
        exact_ ? double{automaton_.score[arc]} : problem_.bounds()->find(automaton_, state, first_words_[first]);
    found.push_back({first, score});
  });
  return found;
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
  const WordBounds& bounds = *problem_.bounds();
  return problem_.weigh(automaton_.measure_context(state) == 2
                            ? bounds.find(automaton_, state, word)
                            : bounds.slack(state) + automaton_.advance(state, word).score);
}

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
    arc = std::lower_bound(arc, end, word);  // words are in increasing order
    seconds[p] = arc < end && *arc == word ? problem_.weigh(double{automaton_.score[arc - automaton_.word]})
                                           : backoff + default_second_[p];
  }
}

Index JoinCosts::add_source(State state) {
  const bool joins = automaton_.order > 1;  // else no word sees what stands before it
  const double slack = exact_ ? 0 : problem_.bounds()->slack(state);
  const double backoff = (state == kEmpty ? 0 : double{automaton_.backoff[state]});
  const std::size_t row = first_.size();
  for (Index f = 0; f < firsts(); ++f)
    first_.push_back(joins ? problem_.weigh(backoff + default_score_[f] + slack) : 0);
  after_.insert(after_.end(), default_after_.begin(), default_after_.end());
  second_.insert(second_.end(), default_second_.begin(), default_second_.end());
  double* seconds = second_.data() + sources_ * pairs();
  const auto correct = [&](Index arc, Index f) {
    const State after = automaton_.next[arc];
    first_[row + f] = problem_.weigh(double{automaton_.score[arc]} + slack);
    if (after == default_after_[f]) return;
    after_[row + f] = after;
    score_seconds(after, f, seconds);
  };
  if (state != kEmpty && joins) match_arcs(state, correct);
  return sources_++;
}

}  // namespace certus::translate
