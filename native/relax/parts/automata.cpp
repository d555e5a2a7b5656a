#include "relax/parts/automata.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace certus::relax {

HeadAutomata::HeadAutomata(std::vector<double> arcs, const double* siblings, Index words)
    : Part(std::move(arcs)), words_(words), best_(words + 1), suffix_(words + 1), back_(words + 1) {
  for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
  const Index N = words + 1;
  for (Index head = 0; head < N; ++head)
    for (const bool right : {false, true}) {
      begin_.push_back(static_cast<Index>(siblings_.size()));
      const Side s = side(head, right);
      const double* own = siblings + head * (N + 1) * N;
      for (Index place = 0; place < s.count; ++place) {
        for (Index before = 0; before < place; ++before) siblings_.push_back(own[s.word(before) * N + s.word(place)]);
        siblings_.push_back(own[N * N + s.word(place)]);
      }
    }
}

HeadAutomata::Side HeadAutomata::side(Index head, bool right) const {
  if (right) return {head, head + 1, 1, words_ - head};
  return {head, head - 1, -1, std::max<Index>(head - 1, 0)};
}

const double* HeadAutomata::siblings(const Side& side, Index place) const {
  return siblings_.data() + begin_[2 * side.head + (side.step > 0)] + place * (place + 1) / 2;
}

double HeadAutomata::run_side(const Side& side, Index but) {
  heed_(side.count * side.count);
  Index needed = -1;  // the last modifier so far that has to be there
  for (Index place = 0; place < side.count; ++place) {
    const Index at = cell(side, place);
    const double* row = siblings(side, place);
    const double own = place == but ? kNever<double> : sums_[at];
    best_[place] = kNever<double>;
    if (own != kNever<double>) {
      const Index first = std::max<Index>(needed, 0);
      const double none = needed < 0 ? row[place] : kNever<double>;
      best_[place] = std::max(none, max_sum(row + first, best_.data() + first, place - first)) + own;
    }
    if (required_[at]) needed = place;
  }
  double best;
  find_last(side, &best);
  return best;
}

// The last modifier of the best sequence, -1 for none at all.
Index HeadAutomata::find_last(const Side& side, double* best) const {
  Index needed = -1, last = -1;
  for (Index place = 0; place < side.count; ++place)
    if (required_[cell(side, place)]) needed = place;
  *best = needed < 0 ? 0.0 : kNever<double>;
  for (Index place = std::max<Index>(needed, 0); place < side.count; ++place)
    if (best_[place] > *best) *best = best_[place], last = place;
  return last;
}

// The place of the modifier before this one in the best sequence up to it, -1 for none.
Index HeadAutomata::find_before(const Side& side, Index place) const {
  const double* row = siblings(side, place);
  Index first = place;
  while (first > 0 && !required_[cell(side, first - 1)]) --first;
  double best = first == 0 ? row[place] : kNever<double>;
  Index from = -1;
  for (Index before = std::max<Index>(first - 1, 0); before < place; ++before)
    if (best_[before] + row[before] > best) best = best_[before] + row[before], from = before;
  return from;
}

// Lists the modifiers that run_side found, and returns their own score.
double HeadAutomata::score_side(const Side& side, std::vector<Index>& used) const {
  double best, score = 0;
  for (Index place = find_last(side, &best); place >= 0;) {
    const Index before = find_before(side, place);
    used.push_back(cell(side, place));
    score += scores_[used.back()] + siblings(side, place)[before < 0 ? place : before];
    place = before;
  }
  return score;
}

// Whether a word has to be its own head.
bool HeadAutomata::is_impossible() const {
  for (Index i = 0; i < words_; ++i)
    if (required_[i * (words_ + 1) + i + 1]) return true;
  return false;
}

double HeadAutomata::maximize(std::vector<Index>& used) {
  used.clear();
  if (is_impossible()) return kNever<double>;
  double score = 0;
  for (Index head = 0; head <= words_; ++head)
    for (const bool right : {false, true}) {
      const Side s = side(head, right);
      if (run_side(s, -1) == kNever<double>) return kNever<double>;
      score += score_side(s, used);
    }
  std::sort(used.begin(), used.end());
  return score;
}

// suffix_[place]: the best that can follow a modifier.
void HeadAutomata::find_suffixes(const Side& side) {
  Index needed = side.count;  // the first modifier from here on that has to be there
  for (Index place = side.count - 1; place >= 0; --place) {
    double best = needed == side.count ? 0.0 : kNever<double>;
    for (Index after = place + 1; after < side.count && after <= needed; ++after)
      best = std::max(best, siblings(side, after)[place] + sums_[cell(side, after)] + suffix_[after]);
    suffix_[place] = best;
    if (required_[cell(side, place)]) needed = place;
  }
}

bool HeadAutomata::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  double total = 0;
  for (Index head = 0; head <= words_; ++head)
    for (const bool right : {false, true}) total += run_side(side(head, right), -1);
  if (total == kNever<double> || is_impossible()) return true;
  for (Index i = 0; i < words_; ++i) without[i * (words_ + 1) + i + 1] = total;  // a word is not its own head
  for (Index head = 0; head <= words_; ++head)
    for (const bool right : {false, true}) {
      const Side s = side(head, right);
      const double best = run_side(s, -1);
      find_suffixes(s);
      for (Index place = 0; place < s.count; ++place) {
        with[cell(s, place)] = best_[place] + suffix_[place] + (total - best);
        without[cell(s, place)] = total;
      }
      chosen_.clear();
      score_side(s, chosen_);
      for (const Index c : chosen_) with[c] = total;
      for (Index place = 0; place < s.count; ++place) {
        const Index c = cell(s, place);
        if (required_[c]) without[c] = kNever<double>;
        else if (std::find(chosen_.begin(), chosen_.end(), c) != chosen_.end())
          without[c] = run_side(s, place) + (total - best);
      }
    }
  return true;
}

bool HeadAutomata::complete(const std::vector<Index>& used, double* score) {
  // Words in rising order are modifiers on the right side from the head outwards; in falling order, on the left side.
  double sum = 0;
  const Index N = words_ + 1;
  back_.assign(N, -1);  // by head: the place of the modifier before
  for (const Index c : used) {
    const Index word = c / N + 1, head = c % N;
    if (word == head) return *score = kNever<double>, true;
    sum += scores_[c];
    if (word < head) continue;
    const Index place = word - head - 1;
    sum += siblings(side(head, true), place)[back_[head] < 0 ? place : back_[head]];
    back_[head] = place;
  }
  std::fill(back_.begin(), back_.end(), -1);
  for (auto c = used.rbegin(); c != used.rend(); ++c) {
    const Index word = *c / N + 1, head = *c % N;
    if (word > head) continue;
    const Index place = head - word - 1;
    sum += siblings(side(head, false), place)[back_[head] < 0 ? place : back_[head]];
    back_[head] = place;
  }
  *score = sum;
  return true;
}

}  // namespace certus::relax
