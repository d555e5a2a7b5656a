#include "relax/parts/state_automata.hpp"

#include <algorithm>

#include "base/arena.hpp"

namespace certus::relax {

StateAutomata::StateAutomata(std::vector<double> arcs, std::vector<double> steps, std::vector<double> start,
                             std::vector<double> stop, Index words, Index states)
    : Part(std::move(arcs)),
      words_(words),
      states_(states),
      steps_(std::move(steps)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      best_((words + 1) * states),
      rest_((words + 1) * states) {
  for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
}

StateAutomata::Side StateAutomata::side(Index number) const {
  const Index head = number / 2;
  if (number % 2) return {number, head, head + 1, 1, words_ - head};
  return {number, head, head - 1, -1, std::max<Index>(head - 1, 0)};
}

// The best way to take a modifier and be in state `to` then, before its arc; and the state before.
double StateAutomata::take(const Side& side, Index place, const double* before, Index to, Index* from) const {
  double most = kNever<double>;
  *from = -1;
  for (Index s = 0; s < states_; ++s)
    if (const double sum = before[s] + step(side, s, to, place); sum > most) most = sum, *from = s;
  return most;
}

double StateAutomata::run_forward(const Side& side) {
  heed_(side.count * states_ * states_);
  std::copy_n(start_.data() + side.number * states_, states_, best_.data());
  for (Index place = 0; place < side.count; ++place) {
    const Index c = cell(side, place);
    const double* before = best_.data() + place * states_;
    double* after = best_.data() + (place + 1) * states_;
    for (Index s = 0; s < states_; ++s) {
      Index from;
      const double taken = sums_[c] == kNever<double> ? kNever<double> : take(side, place, before, s, &from) + sums_[c];
      after[s] = required_[c] ? taken : std::max(before[s], taken);
    }
  }
  double most = kNever<double>;
  for (Index s = 0; s < states_; ++s)
    most = std::max(most, best_[side.count * states_ + s] + stop_[side.number * states_ + s]);
  return most;
}

// rest[place][s]: the best way on from state s before this place.
void StateAutomata::run_backward(const Side& side) {
  std::copy_n(stop_.data() + side.number * states_, states_, rest_.data() + side.count * states_);
  for (Index place = side.count - 1; place >= 0; --place) {
    const Index c = cell(side, place);
    const double* after = rest_.data() + (place + 1) * states_;
    for (Index s = 0; s < states_; ++s) {
      double most = required_[c] ? kNever<double> : after[s];
      for (Index to = 0; to < states_ && sums_[c] != kNever<double>; ++to)
        most = std::max(most, step(side, s, to, place) + sums_[c] + after[to]);
      rest_[place * states_ + s] = most;
    }
  }
}

// Lists the modifiers that run_forward found, and returns their own score.
double StateAutomata::trace(const Side& side, std::vector<Index>& used) const {
  const double* last = best_.data() + side.count * states_;
  Index state = 0;
  for (Index s = 1; s < states_; ++s)
    if (last[s] + stop_[side.number * states_ + s] > last[state] + stop_[side.number * states_ + state]) state = s;
  double score = stop_[side.number * states_ + state];
  for (Index place = side.count - 1; place >= 0; --place) {
    const double* before = best_.data() + place * states_;
    const Index c = cell(side, place);
    if (!required_[c] && best_[(place + 1) * states_ + state] == before[state]) continue;
    Index from;
    take(side, place, before, state, &from);
    score += scores_[c] + step(side, from, state, place);
    used.push_back(c);
    state = from;
  }
  return score + start_[side.number * states_ + state];
}

// Whether a word has to be its own head.
bool StateAutomata::is_impossible() const {
  for (Index i = 0; i < words_; ++i)
    if (required_[i * (words_ + 1) + i + 1]) return true;
  return false;
}

double StateAutomata::maximize(std::vector<Index>& used) {
  used.clear();
  if (is_impossible()) return kNever<double>;
  double score = 0;
  for (Index number = 0; number < 2 * (words_ + 1); ++number) {
    const Side s = side(number);
    if (run_forward(s) == kNever<double>) return kNever<double>;
    score += trace(s, used);
  }
  std::sort(used.begin(), used.end());
  return score;
}

bool StateAutomata::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  double total = is_impossible() ? kNever<double> : 0.0;
  for (Index number = 0; number < 2 * (words_ + 1) && total != kNever<double>; ++number)
    total += run_forward(side(number));
  if (total == kNever<double>) return true;
  for (Index i = 0; i < words_; ++i) without[i * (words_ + 1) + i + 1] = total;  // a word is not its own head
  for (Index number = 0; number < 2 * (words_ + 1); ++number) {
    const Side s = side(number);
    const double others = total - run_forward(s);
    run_backward(s);
    for (Index place = 0; place < s.count; ++place) {
      const Index c = cell(s, place);
      const double *before = best_.data() + place * states_, *after = rest_.data() + (place + 1) * states_;
      double on = kNever<double>, off = kNever<double>;
      for (Index to = 0; to < states_; ++to) {
        Index from;
        if (sums_[c] != kNever<double>) on = std::max(on, take(s, place, before, to, &from) + sums_[c] + after[to]);
        off = std::max(off, before[to] + after[to]);
      }
      with[c] = on + others;
      without[c] = required_[c] ? kNever<double> : off + others;
    }
  }
  return true;
}

bool StateAutomata::complete(const std::vector<Index>& used, double* score) {
  const LocalArena arena;
  std::uint8_t* on = arena.get<std::uint8_t>(cells(), 0);
  double *now = arena.get<double>(states_), *next = arena.get<double>(states_);
  for (const Index c : used) on[c] = 1;
  *score = 0;
  for (Index i = 0; i < words_; ++i)
    if (on[i * (words_ + 1) + i + 1]) *score = kNever<double>;
  for (Index number = 0; number < 2 * (words_ + 1) && *score != kNever<double>; ++number) {
    const Side s = side(number);
    std::copy_n(start_.data() + number * states_, states_, now);
    for (Index place = 0; place < s.count; ++place) {
      if (!on[cell(s, place)]) continue;
      for (Index to = 0; to < states_; ++to) {
        Index from;
        next[to] = take(s, place, now, to, &from) + scores_[cell(s, place)];
      }
      std::swap(now, next);
    }
    double most = kNever<double>;
    for (Index to = 0; to < states_; ++to) most = std::max(most, now[to] + stop_[number * states_ + to]);
    *score += most;
  }
  return true;
}

}  // namespace certus::relax
