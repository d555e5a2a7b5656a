#include "relax/parts/automata.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/arena.hpp"
#include "base/simd.hpp"

namespace certus::relax {

HeadAutomata::HeadAutomata(std::vector<double> arcs, const double* siblings, Index words)
    : Part(std::move(arcs)),
      words_(words),
      sides_(2 * (words + 1)),
      best_(cells()),
      suffix_(words + 1),
      with_(cells(), 0.0),
      without_(cells(), 0.0),
      seen_(cells(), std::numeric_limits<double>::quiet_NaN()),
      needed_(cells(), 0) {
  for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
  const Index N = words + 1;
  Index rows = 0;
  for (Index head = 0; head < N; ++head)
    for (const bool right : {false, true}) {
      const Index count = side(head, right).count;
      rows += count * (count + 1) / 2;
    }
  siblings_.resize(rows);
  double* to = siblings_.data();
  Index places = 0;
  for (Index head = 0; head < N; ++head)
    for (const bool right : {false, true}) {
      const Side s = side(head, right);
      begin_.push_back(to - siblings_.data());
      first_.push_back(places);
      places += s.count;
      const double* own = siblings + head * (N + 1) * N;
      for (Index place = 0; place < s.count; ++place) {
        const double* column = own + s.word(place);
        for (Index before = 0; before < place; ++before) *to++ = column[s.word(before) * N];
        *to++ = column[N * N];
      }
    }
}

HeadAutomata::Side HeadAutomata::side(Index head, bool right) const {
  if (right) return {head, head + 1, 1, words_ - head};
  return {head, head - 1, -1, std::max<Index>(head - 1, 0)};
}

const double* HeadAutomata::siblings(const Side& side, Index place) const {
  return siblings_.data() + begin_[number(side)] + place * (place + 1) / 2;
}

// Marks the sides whose adjustments changed since they were looked at.
void HeadAutomata::find_changed() {
  const Index N = words_ + 1;
  for (Index i = 0; i < words_; ++i) {
    const Index row = i * N;
    // Mostly nothing changed in a row. Zeros of both signs count as a change, which does no harm.
    if (std::memcmp(&sums_[row], &seen_[row], N * sizeof(double)) == 0 &&
        std::memcmp(&required_[row], &needed_[row], N) == 0)
      continue;
    for (Index head = 0, c = row; head < N; ++head, ++c) {
      if (sums_[c] == seen_[c] && required_[c] == needed_[c]) continue;
      seen_[c] = sums_[c];
      needed_[c] = required_[c];
      sides_[2 * head + (i + 1 > head)].is_run = false;
    }
  }
}

// Fills best_ of one side:  best[m] = arc[m] + max over k of best[k] + sibling(k, m).
void HeadAutomata::run_side(const Side& side) {
  heed_(side.count * side.count);
  double* best = best_.data() + first_[number(side)];
  Index needed = -1;  // the last modifier so far that has to be there
  for (Index place = 0; place < side.count; ++place) {
    const Index at = cell(side, place);
    const double own = sums_[at];
    best[place] = kNever<double>;
    if (own != kNever<double>) {
      const double* row = siblings(side, place);
      const Index first = std::max<Index>(needed, 0);
      const double none = needed < 0 ? row[place] : kNever<double>;
      best[place] = std::max(none, max_sum(row + first, best + first, place - first)) + own;
    }
    if (required_[at]) needed = place;
  }
  Found& found = sides_[number(side)];
  const Index last = find_last(side, &found.value);
  found.used.clear();
  found.score = 0;
  found.is_run = true;
  found.is_bounded = false;
  for (Index place = last; place >= 0;) {
    const Index before = find_before(side, place);
    found.used.push_back(cell(side, place));
    found.score += scores_[found.used.back()] + siblings(side, place)[before < 0 ? place : before];
    place = before;
  }
}

// The last modifier of the best sequence, -1 for none at all.
Index HeadAutomata::find_last(const Side& side, double* value) const {
  const double* best = best_.data() + first_[number(side)];
  Index needed = -1, last = -1;
  for (Index place = 0; place < side.count; ++place)
    if (required_[cell(side, place)]) needed = place;
  *value = needed < 0 ? 0.0 : kNever<double>;
  for (Index place = std::max<Index>(needed, 0); place < side.count; ++place)
    if (best[place] > *value) *value = best[place], last = place;
  return last;
}

// The place of the modifier before this one in the best sequence up to it, -1 for none.
Index HeadAutomata::find_before(const Side& side, Index place) const {
  const double *row = siblings(side, place), *best = best_.data() + first_[number(side)];
  Index first = place;
  while (first > 0 && !required_[cell(side, first - 1)]) --first;
  double most = first == 0 ? row[place] : kNever<double>;
  Index from = -1;
  for (Index before = std::max<Index>(first - 1, 0); before < place; ++before)
    if (best[before] + row[before] > most) most = best[before] + row[before], from = before;
  return from;
}

// Whether a word has to be its own head.
bool HeadAutomata::is_impossible() const {
  for (Index i = 0; i < words_; ++i)
    if (required_[i * (words_ + 1) + i + 1]) return true;
  return false;
}

// Runs the sides that changed, and returns the sum of all; -inf where one has no sequence.
double HeadAutomata::run_changed() {
  if (is_impossible()) return kNever<double>;
  find_changed();
  double total = 0;
  for (Index head = 0; head <= words_; ++head)
    for (const bool right : {false, true}) {
      const Side s = side(head, right);
      if (!sides_[number(s)].is_run) run_side(s);
      total += sides_[number(s)].value;
    }
  return total;
}

double HeadAutomata::maximize(std::vector<Index>& used) {
  used.clear();
  if (run_changed() == kNever<double>) return kNever<double>;
  double score = 0;
  for (const Found& found : sides_) {
    score += found.score;
    used.insert(used.end(), found.used.begin(), found.used.end());
  }
  std::sort(used.begin(), used.end());
  return score;
}

// suffix_[place]: the best that can follow a modifier.
void HeadAutomata::find_suffixes(const Side& side) {
  Index needed = -1;
  for (Index place = 0; place < side.count; ++place)
    if (required_[cell(side, place)]) needed = place;
  for (Index place = 0; place < side.count; ++place) suffix_[place] = place < needed ? kNever<double> : 0.0;
  for (Index after = side.count - 1; after > 0; --after) {
    const double rest = sums_[cell(side, after)] + suffix_[after];
    if (rest == kNever<double>) continue;
    Index first = after - 1;  // the modifier before is at or after the last one that has to be there
    while (first > 0 && !required_[cell(side, first)]) --first;
    const double* row = siblings(side, after);
    for (Index before = first; before < after; ++before)
      suffix_[before] = std::max(suffix_[before], row[before] + rest);
  }
}

// The best value of a side without the modifier at `but`, which need not be there.
double HeadAutomata::find_without(const Side& side, Index but) const {
  const double* best = best_.data() + first_[number(side)];
  Index first = but, last = but;  // the places around it that a sequence has to pass between
  while (first > 0 && !required_[cell(side, first - 1)]) --first;
  do ++last;
  while (last < side.count && !required_[cell(side, last)]);
  const Index begin = std::max<Index>(first - 1, 0);
  double most = kNever<double>;
  if (last == side.count) {  // nothing has to follow
    most = first == 0 ? 0.0 : kNever<double>;
    for (Index place = begin; place < but; ++place) most = std::max(most, best[place]);
  }
  for (Index after = but + 1; after < side.count && after <= last; ++after) {
    const double rest = sums_[cell(side, after)] + suffix_[after];
    if (rest == kNever<double>) continue;
    const double* row = siblings(side, after);
    const double none = first == 0 ? row[after] : kNever<double>;
    most = std::max(most, std::max(none, max_sum(row + begin, best + begin, but - begin)) + rest);
  }
  return most;
}

// with_ and without_ of the cells of one side: less the best value of the side.
void HeadAutomata::bound_side(const Side& side) {
  Found& found = sides_[number(side)];
  heed_(side.count * side.count);
  find_suffixes(side);
  const double* best = best_.data() + first_[number(side)];
  for (Index place = 0; place < side.count; ++place) {
    const Index c = cell(side, place);
    with_[c] = std::min(0.0, best[place] + suffix_[place] - found.value);
    without_[c] = required_[c] ? kNever<double> : 0.0;
  }
  for (const Index c : found.used) {
    with_[c] = 0;
    if (!required_[c]) without_[c] = std::min(0.0, find_without(side, place_of(side, c)) - found.value);
  }
  found.is_bounded = true;
}

bool HeadAutomata::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  const double total = run_changed();
  if (total == kNever<double>) return true;
  for (Index head = 0; head <= words_; ++head)
    for (const bool right : {false, true})
      if (const Side s = side(head, right); !sides_[number(s)].is_bounded) bound_side(s);
  for (Index c = 0; c < cells(); ++c) {
    with[c] = total + with_[c];
    without[c] = total + without_[c];
  }
  for (Index c = 1; c < cells(); c += words_ + 2) with[c] = kNever<double>;  // a word is not its own head
  return true;
}

bool HeadAutomata::complete(const std::vector<Index>& used, double* score) {
  // Words in rising order are modifiers on the right side from the head outwards; in falling order, on the left side.
  double sum = 0;
  const Index N = words_ + 1;
  const LocalArena arena;
  Index* back = arena.get<Index>(N, -1);  // by head: the place of the modifier before
  for (const Index c : used) {
    const Index word = c / N + 1, head = c % N;
    if (word == head) return *score = kNever<double>, true;
    sum += scores_[c];
    if (word < head) continue;
    const Index place = word - head - 1;
    sum += siblings(side(head, true), place)[back[head] < 0 ? place : back[head]];
    back[head] = place;
  }
  std::fill_n(back, N, -1);
  for (auto c = used.rbegin(); c != used.rend(); ++c) {
    const Index word = *c / N + 1, head = *c % N;
    if (word > head) continue;
    const Index place = head - word - 1;
    sum += siblings(side(head, false), place)[back[head] < 0 ? place : back[head]];
    back[head] = place;
  }
  *score = sum;
  return true;
}

}  // namespace certus::relax
