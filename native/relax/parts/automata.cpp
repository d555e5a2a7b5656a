#include "relax/parts/automata.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/arena.hpp"
#include "base/widths.hpp"

namespace certus::relax {
namespace {

constexpr Index kNone = 0;  // where a word is expected: the root is nobody's modifier

using Side = HeadAutomata::Side;
using Bounds = HeadAutomata::Bounds;

// Neighbouring words.
struct Words {
  Index begin, count;
};

// The words of a side from `word` on outwards, itself left out, as far as `last`.
CERTUS_INLINE Words list_beyond(const Side& s, Index word, Index last) {
  return s.right ? Words{word + 1, last - word} : Words{last, word - last};
}
CERTUS_INLINE Words list_beyond(const Side& s, Index word) { return list_beyond(s, word, s.right ? s.words : 1); }

CERTUS_INLINE Index find_cell(const Side& s, Index word) { return (word - 1) * (s.words + 1); }

// The scores of siblings after `before`, by word; `words + 1` stands for none.
CERTUS_INLINE const double* find_row(const Side& s, Index before) { return s.siblings + before * (s.words + 1); }

// acc[j] = max(acc[j], from + row[j]). What vectors of this width leave is done by narrower ones.
template <int bytes>
CERTUS_INLINE void raise_row(double* acc, double from, const double* row, Index n) {
  if constexpr (bytes == sizeof(double)) {
    if (n > 0) *acc = larger(from + *row, *acc);
  } else {
    using V = typename Simd<double, bytes>::vector;
    using U = typename Simd<double, bytes>::unaligned;
    constexpr Index W = Simd<double, bytes>::width;
    for (; n >= W; n -= W, acc += W, row += W) {
      U* to = reinterpret_cast<U*>(acc);
      *to = larger<V>(from + *reinterpret_cast<const U*>(row), *to);
    }
    raise_row<bytes / 2>(acc, from, row, n);
  }
}

// The largest a[j] + b[j], -inf when n is 0.
template <int bytes>
CERTUS_INLINE double find_largest_sum(const double* a, const double* b, Index n) {
  if constexpr (bytes == sizeof(double)) {
    return n > 0 ? *a + *b : kNever<double>;
  } else {
    using V = typename Simd<double, bytes>::vector;
    using U = typename Simd<double, bytes>::unaligned;
    constexpr Index W = Simd<double, bytes>::width;
    if (n < W) return find_largest_sum<bytes / 2>(a, b, n);
    V most = *reinterpret_cast<const U*>(a) + *reinterpret_cast<const U*>(b);
    for (a += W, b += W, n -= W; n >= W; n -= W, a += W, b += W)
      most = larger<V>(*reinterpret_cast<const U*>(a) + *reinterpret_cast<const U*>(b), most);
    return larger(fold_largest<double, bytes>(most), find_largest_sum<bytes / 2>(a, b, n));
  }
}

// The best sequence: its value and its last modifier.
struct End {
  double value;
  Index last;
};

// Goes outwards. `visit` is called before a word can be a modifier, with the best sequence until there: raised[] of the
// words beyond then stands for sequences without it.
template <int bytes, class Visit>
CERTUS_INLINE End follow(const Side& s, Visit visit) {
  End end{0.0, kNone};
  const Words all = list_beyond(s, s.head);
  std::copy_n(find_row(s, s.words + 1) + all.begin, all.count, s.raised + all.begin);
  const Index step = s.right ? 1 : -1;
  Index word = s.head;
  for (Index place = 0; place < all.count; ++place) {
    word += step;
    visit(word, end);
    const Index cell = find_cell(s, word);
    const Words beyond = list_beyond(s, word);
    s.into[word] = s.raised[word];
    const double best = s.best[word] = s.raised[word] + s.sums[cell];
    if (s.required[cell]) {
      std::fill_n(s.raised + beyond.begin, beyond.count, kNever<double>);
      end = {kNever<double>, kNone};
    }
    if (best > end.value) end = {best, word};
    if (best != kNever<double>)
      raise_row<bytes>(s.raised + beyond.begin, best, find_row(s, word) + beyond.begin, beyond.count);
  }
  return end;
}

template <class, int bytes>
CERTUS_INLINE End find_best_body(const Side& s) {
  return follow<bytes>(s, [](Index, const End&) __attribute__((always_inline)) {});
}

// Goes inwards.
template <int bytes>
CERTUS_INLINE void find_suffixes(const Side& s, const Bounds& b) {
  const Index step = s.right ? 1 : -1;
  Index limit = kNone, word = s.right ? s.words : 1;
  for (Index left = list_beyond(s, s.head).count; left > 0; --left, word -= step) {
    const Index cell = find_cell(s, word);
    b.limit[word] = limit;
    b.suffix[word] = limit == kNone ? 0.0 : kNever<double>;
    if (s.best[word] != kNever<double>) {
      const Words beyond = limit == kNone ? list_beyond(s, word) : list_beyond(s, word, limit);
      const double* row = find_row(s, word);
      b.suffix[word] =
          larger(b.suffix[word], find_largest_sum<bytes>(row + beyond.begin, b.rest + beyond.begin, beyond.count));
    }
    b.rest[word] = s.sums[cell] + b.suffix[word];
    if (s.required[cell]) limit = word;
  }
}

// with[] and without[] of all cells of a side, less its value; `used` are those of its best sequence, as found.
template <class, int bytes>
CERTUS_INLINE void find_bounds_body(const Side& s, const Bounds& b, double value, const std::vector<Index>& used) {
  find_suffixes<bytes>(s, b);
  Index next = static_cast<Index>(used.size()) - 1;
  follow<bytes>(s, [&](Index word, const End& until) __attribute__((always_inline)) {
    const Index cell = find_cell(s, word);
    b.with[cell] = std::min(0.0, s.best[word] + b.suffix[word] - value);
    b.without[cell] = s.required[cell] ? kNever<double> : 0.0;
    if (next < 0 || used[next] != cell + s.head) return;
    --next;
    b.with[cell] = 0;
    if (s.required[cell]) return;
    const Index limit = b.limit[word];
    const Words beyond = limit == kNone ? list_beyond(s, word) : list_beyond(s, word, limit);
    const double more = find_largest_sum<bytes>(s.raised + beyond.begin, b.rest + beyond.begin, beyond.count);
    b.without[cell] = std::min(0.0, (limit == kNone ? larger(more, until.value) : more) - value);
  });
}

// The modifier before this one in the best sequence up to it.
Index find_before(const Side& s, Index word) {
  const double into = s.into[word];
  const Index step = s.right ? 1 : -1;
  Index found = kNone;
  for (Index before = word - step; before != s.head; before -= step) {
    if (s.best[before] + find_row(s, before)[word] == into) found = before;
    if (s.required[find_cell(s, before)]) return found;
  }
  return find_row(s, s.words + 1)[word] == into ? kNone : found;
}

}  // namespace

CERTUS_BY_WIDTH(static End, find_best, double, find_best_body, (const Side& s), (s))
CERTUS_BY_WIDTH(static void, find_bounds, double, find_bounds_body,
                (const Side& s, const Bounds& b, double value, const std::vector<Index>& used), (s, b, value, used))

HeadAutomata::HeadAutomata(std::vector<double> arcs, const double* siblings, Index words)
    : Part(std::move(arcs)),
      words_(words),
      siblings_(siblings),
      sides_(2 * (words + 1)),
      best_((words + 1) * (words + 1)),
      into_(best_.size()),
      raised_(words + 1),
      suffix_(words + 1),
      rest_(words + 1),
      limit_(words + 1),
      with_(cells(), 0.0),
      without_(cells(), 0.0),
      seen_(cells(), std::numeric_limits<double>::quiet_NaN()),
      needed_(cells(), 0) {
  for (Index c = 0; c < cells(); ++c) add_group(c, c + 1, false);
}

HeadAutomata::Side HeadAutomata::side(Index head, bool right) {
  const Index N = words_ + 1;
  return {words_,
          head,
          right,
          siblings_ + head * (N + 1) * N,
          sums_.data() + head,
          required_.data() + head,
          best_.data() + head * N,
          into_.data() + head * N,
          raised_.data()};
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

void HeadAutomata::run_side(const Side& side) {
  heed_(words_ * words_ / 2);
  Found& found = sides_[2 * side.head + side.right];
  const End end = find_best(side);
  found.value = end.value;
  found.score = 0;
  found.used.clear();
  found.is_run = true;
  found.is_bounded = false;
  if (end.value == kNever<double>) return;
  for (Index word = end.last; word != kNone;) {
    const Index before = find_before(side, word);
    found.used.push_back(find_cell(side, word) + side.head);
    found.score += scores_[found.used.back()] + sibling(side.head, before == kNone ? words_ + 1 : before, word);
    word = before;
  }
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
      const Found& found = sides_[2 * head + right];
      if (!found.is_run) run_side(side(head, right));
      total += found.value;
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

void HeadAutomata::bound_side(const Side& side) {
  heed_(words_ * words_);
  Found& found = sides_[2 * side.head + side.right];
  const Bounds bounds{suffix_.data(), rest_.data(), limit_.data(), with_.data() + side.head,
                      without_.data() + side.head};
  find_bounds(side, bounds, found.value, found.used);
  found.is_bounded = true;
}

bool HeadAutomata::max_marginals(double* with, double* without) {
  std::fill_n(with, cells(), kNever<double>);
  std::fill_n(without, cells(), kNever<double>);
  const double total = run_changed();
  if (total == kNever<double>) return true;
  for (Index head = 0; head <= words_; ++head)
    for (const bool right : {false, true})
      if (!sides_[2 * head + right].is_bounded) bound_side(side(head, right));
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
  Index* back = arena.get<Index>(N, N);  // by head: the modifier before, N for none
  for (const Index c : used) {
    const Index word = c / N + 1, head = c % N;
    if (word == head) return *score = kNever<double>, true;
    sum += scores_[c];
    if (word < head) continue;
    sum += sibling(head, back[head], word);
    back[head] = word;
  }
  std::fill_n(back, N, N);
  for (auto c = used.rbegin(); c != used.rend(); ++c) {
    const Index word = *c / N + 1, head = *c % N;
    if (word > head) continue;
    sum += sibling(head, back[head], word);
    back[head] = word;
  }
  *score = sum;
  return true;
}

}  // namespace certus::relax
