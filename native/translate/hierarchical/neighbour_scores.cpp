#include "translate/hierarchical/neighbour_scores.hpp"

#include <algorithm>
#include <bit>

namespace certus::translate {

NeighbourScores::NeighbourScores(const ForestProblem& problem)
    : problem_(problem), automaton_(problem.model->automaton()), order_(automaton_.order) {
  number_words();
  collect_followers();
  make_last_words();
  make_bounds();
}

void NeighbourScores::number_words() {
  number_.assign(automaton_.words, -1);
  number_[kEnd] = words_++;
  word_.push_back(kEnd);
  for (const Symbol symbol : problem_.forest.symbols) {
    if (is_node(symbol) || number_[symbol] >= 0) continue;
    number_[symbol] = words_++;
    word_.push_back(static_cast<Word>(symbol));
  }
  stride_ = (words_ + 63) / 64;
}

// Which words may stand beside each other: those at the ends of nodes and words that edges have beside each other.
void NeighbourScores::collect_followers() {
  const TargetForest& forest = problem_.forest;
  using Set = std::uint64_t*;
  std::vector<std::uint64_t> first(forest.nodes * stride_), last(first), after(first);
  followers_.assign(words_ * stride_, 0);
  const auto join = [&](Set into, Symbol symbol, const std::vector<std::uint64_t>& ends) {
    if (!is_node(symbol)) {
      into[number_[symbol] >> 6] |= std::uint64_t{1} << (number_[symbol] & 63);
      return;
    }
    for (Index i = 0; i < stride_; ++i) into[i] |= ends[~symbol * stride_ + i];
  };
  for (Index v = 0; v < forest.nodes; ++v)
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      const std::span<const Symbol> symbols = forest.list_symbols(e);
      join(first.data() + v * stride_, symbols.front(), first);
      join(last.data() + v * stride_, symbols.back(), last);
      for (std::size_t i = 1; i < symbols.size(); ++i) {
        const Symbol before = symbols[i - 1];
        join(is_node(before) ? after.data() + ~before * stride_ : followers_.data() + number_[before] * stride_,
             symbols[i], first);
      }
    }
  join(after.data() + forest.goal * stride_, kEnd, first);
  for (Index v = 0; v < forest.nodes; ++v)
    visit_followers(last.data() + v * stride_, [&](Opening word) {
      for (Index i = 0; i < stride_; ++i) followers_[word * stride_ + i] |= after[v * stride_ + i];
    });
  beginnings_.assign(first.begin() + forest.goal * stride_, first.begin() + (forest.goal + 1) * stride_);
}

template <class Visit>
void NeighbourScores::visit_followers(const std::uint64_t* set, const Visit& visit) const {
  for (Index i = 0; i < stride_; ++i)
    for (std::uint64_t left = set[i]; left != 0; left &= left - 1)
      visit(static_cast<Opening>(64 * i + std::countr_zero(left)));
}

Neighbour NeighbourScores::add_row(State state, double value) {
  rows_.resize(rows_.size() + openings(), value);
  state_.push_back(state);
  return static_cast<Neighbour>(neighbours()) - 1;
}

Neighbour NeighbourScores::end_in_state(State state) {
  if (const auto place = whole_.find(state); place != whole_.end()) return place->second;
  if (state == kEmpty) {
    const Neighbour made = add_row(state, 0);
    double* row = rows_.data() + made * openings();
    for (Opening w = 0; w < words_; ++w) row[w] = problem_.weigh(automaton_.score[word_[w]]);
    return whole_[state] = made;
  }
  const Neighbour shorter = end_in_state(automaton_.suffix[state]), made = add_row(state, 0);
  double* row = rows_.data() + made * openings();
  const double* base = this->row(shorter);
  const double backoff = problem_.weigh(automaton_.backoff[state]);
  for (Opening w = 0; w <= closed(); ++w) row[w] = base[w] + backoff;
  for (Index arc = automaton_.begin[state]; arc < automaton_.begin[state + 1]; ++arc)
    if (const Opening w = number_[automaton_.word[arc]]; w >= 0) row[w] = problem_.weigh(automaton_.score[arc]);
  return whole_[state] = made;
}

Neighbour NeighbourScores::shorten(State state) const {
  while (automaton_.measure_context(state) > 1) state = automaton_.suffix[state];
  const auto place = end_.find(state);
  return place == end_.end() ? -1 : place->second;
}

// Adds what a word costs in a state of which only the last word is known to be `last`.
void NeighbourScores::add_context(State longer, State last, Neighbour row, double& most) {
  double backoff = problem_.model->bounds().slack(longer);
  for (State state = longer; automaton_.measure_context(state) > 1; state = automaton_.suffix[state])
    backoff += automaton_.backoff[state];
  most = std::max(most, problem_.weigh(backoff));
  if (longer == last) return;
  double* values = rows_.data() + row * openings();
  for (Index arc = automaton_.begin[longer]; arc < automaton_.begin[longer + 1]; ++arc)
    if (const Opening w = number_[automaton_.word[arc]]; w >= 0)
      values[w] = std::max(values[w], problem_.weigh(problem_.model->bounds().highest(arc)));
}

void NeighbourScores::make_last_words() {
  std::vector<State> state(words_);
  for (Opening w = 0; w < words_; ++w) state[w] = automaton_.advance(kEmpty, word_[w]).state;

  for (Opening w = 0; w < words_; ++w) {
    const auto [place, is_new] = end_.try_emplace(state[w], -1);
    if (is_new && order_ <= 2) place->second = end_in_state(state[w]);
    if (is_new && order_ > 2) place->second = add_row(state[w], kNever<double>);
    last_.push_back(place->second);
  }
  if (order_ <= 2) return;
  std::vector<double> most(neighbours(), kNever<double>);
  for (Opening x = 0; x < words_; ++x)
    visit_followers(followers_.data() + x * stride_, [&](Opening w) {
      add_context(automaton_.advance(state[x], word_[w]).state, state[w], last_[w], most[last_[w]]);
    });
  visit_followers(beginnings_.data(), [&](Opening w) {
    add_context(automaton_.advance(problem_.model->begin(), word_[w]).state, state[w], last_[w], most[last_[w]]);
  });
  for (const auto& [last, neighbour] : end_) {
    const double* base = row(end_in_state(last));
    double* values = rows_.data() + neighbour * openings();
    for (Opening w = 0; w <= closed(); ++w) values[w] = std::max(values[w], base[w] + most[neighbour]);
  }
}

void NeighbourScores::make_bounds() {
  bound_.assign(openings(), kNever<double>);
  const auto raise = [&](const std::uint64_t* set, Neighbour before) {
    const double* values = row(before);
    visit_followers(set, [&](Opening w) {
      const Opening opening = open(word_[w]);
      bound_[opening] = std::max(bound_[opening], values[opening]);
    });
  };
  for (Opening w = 0; w < words_; ++w) raise(followers_.data() + w * stride_, last_[w]);
  raise(beginnings_.data(), end_in_state(problem_.model->begin()));
  bound_[start()] = 0;
}

}  // namespace certus::translate
