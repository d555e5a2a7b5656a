#include "scoring/detours.hpp"

#include <algorithm>

#include "base/probing.hpp"

namespace certus::scoring {
namespace {

constexpr std::size_t kFewWays = 1024, kWaysPerToken = 16, kWaysPerAnswer = 64;
constexpr std::size_t kFewSlots = 64;  // a power of two

}  // namespace

double Detours::find(Cascade& cascade, const NgramTable& ngrams, Index order, double limit, Index k,
                     const Allowed* allowed, const UnitScores& units) {
  cascade_ = &cascade, ngrams_ = &ngrams, order_ = order, limit_ = limit;
  allowed_ = allowed, units_ = units;
  found.clear(), ways_.clear();
  searched_ = lists_ = false, is_best_ = k == 1 && limit >= cascade.best.score;
  const std::size_t most = kFewWays + kWaysPerToken * static_cast<std::size_t>(cascade.length()) +
                           kWaysPerAnswer * static_cast<std::size_t>(k - 1);
  left_ = most;
  onward_.begin(cascade, ngrams, order);
  if (limit != kNever<double>) onward_.tell_apart(limit, allowed, units);
  for (Index t = cascade.length() + 1; t > 0; --t) {
    onward_.step_back(t);
    if ((k == 1 || limit != kNever<double>) && left_ > 0) search_from(t - 1, k == 1);
    onward_.join(t - 1);
  }
  double bound = onward_.leaving(0);
  if (k == 1 && left_ > 0) bound = std::min(bound, limit_);  // all that leave the lattice were looked at
  left_ = most;
  if (k > 1 && limit != kNever<double> && bound > limit && list_all()) bound = limit;
  onward_.put_back();
  return bound;
}

// Follows all paths of the lattice, too, as far as they may leave it.
bool Detours::list_all() {
  ways_.clear();
  lists_ = true;
  start(0);
  std::size_t begin = 0;
  for (Index t = 0; t <= cascade_->length(); ++t) {
    const std::size_t next = ways_.size();
    if (!expand(t, begin, next)) return false;
    begin = next;
  }
  keep_found(begin);
  return true;
}

// Follows all ways that leave the lattice after a position. The best that they lead to is kept and raises the limit, if
// one is wanted; otherwise it only bounds them.
void Detours::search_from(Index t, bool keeps) {
  const Level& last = cascade_->level(order_);
  const std::vector<double>& best = cascade_->paths.best;
  ways_.clear();
  for (std::uint32_t s = last.begin[t]; s < last.begin[t + 1]; ++s)
    if (best[s] + onward_.departing(s) > limit_) start(s);
  if (ways_.empty()) return;
  const std::size_t starts = ways_.size();
  std::size_t begin = 0;
  for (Index u = t; u <= cascade_->length() && begin < ways_.size(); ++u) {
    const std::size_t next = ways_.size();
    if (!expand(u, begin, next)) return;
    begin = next;
  }
  keep_found(begin);
  const double most = found.empty() ? limit_ : std::max(limit_, found[0].score);
  if (keeps) limit_ = most;
  else found.clear();
  for (std::size_t i = 0; i < starts; ++i) onward_.limit_departing(ways_[i].state, most - ways_[i].score);
}

// Goes on from the ways [begin, end), which end at position t, to the next; false if they are too many.
bool Detours::expand(Index t, std::size_t begin, std::size_t end) {
  first_ = end, searched_ = true;
  same_.assign(kFewSlots, 0);
  is_scored_.assign(cascade_->bounds->groups(), 0);
  for (std::size_t i = begin; i < end; ++i) {
    const Way way = ways_[i];  // they may move
    std::uint32_t s = way.state;
    for (Index m = way.level; m > 0; --m) states_[m] = s, s = cascade_->level(m).cur[s];
    go_to_candidates(t + 1, way, static_cast<std::int32_t>(i));
    if (t < cascade_->length()) go_to_others(t + 1, way, static_cast<std::int32_t>(i));
    if (ways_.size() - end > left_) {
      left_ = 0;
      return false;
    }
  }
  left_ -= ways_.size() - end;
  return true;
}

// Keeps the complete sequences from `begin` on; unless all are listed, the best.
void Detours::keep_found(std::size_t begin) {
  for (std::size_t i = begin; i < ways_.size(); ++i) {
    if (!lists_ && !found.empty()) {
      if (!(ways_[i].score > found[0].score)) continue;
      found.clear();
    }
    found.push_back({ways_[i].score, std::vector<Label>(cascade_->length())});
    trace(static_cast<std::int32_t>(i), found.back());
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
}

// Begins with the best path to a state of the lattice.
void Detours::start(std::uint32_t s) {
  const Level& last = cascade_->level(order_);
  Way way{};
  way.score = cascade_->paths.best[s], way.before = -1, way.label = last.label[s];
  way.level = order_, way.state = s, way.since = 2, way.inside = true;
  for (Index m = order_; m > 0; --m) {
    const Level& level = cascade_->level(m);
    way.full[m - 1] = level.full[s], way.coarse[m - 1] = level.coarse[s];
    s = level.cur[s];
  }
  ways_.push_back(way);
}

bool Detours::is_legal(Label before, Label y) const {
  return !cascade_->legal || cascade_->legal[static_cast<std::size_t>(before) * (cascade_->tagset().labels + 1) + y];
}

void Detours::go_to_candidates(Index t, const Way& way, std::int32_t number) {
  const Level& one = cascade_->level(1);
  steps_.clear();
  for (std::uint32_t c = one.begin[t]; c < one.begin[t + 1]; ++c) {
    if (way.level > 0 && order_ > 1) {
      const float pair = onward_.pair(one.edge_begin[c] + (states_[1] - one.begin[t - 1]));
      if (!(way.score + way.owed + static_cast<double>(pair) + one.node[c] + onward_.from(1, c) > limit_)) continue;
    }
    if (is_legal(way.label, one.label[c])) plan_candidate(t, way, c);
  }
  for (const Step& step : steps_) go_to_candidate(way, number, step);
}

// Finds the highest order that has a state for a candidate.
void Detours::plan_candidate(Index t, const Way& way, std::uint32_t candidate) {
  Index m = 1;
  std::uint32_t s = candidate;
  for (; m < order_ && m <= way.level && cascade_->is_joined(m, states_[m], s); ++m) {
    const Level& above = cascade_->level(m + 1);
    const auto end = above.cur.begin() + above.begin[t + 1];
    auto q = std::lower_bound(above.cur.begin() + above.begin[t], end, s);
    while (above.prev[static_cast<std::size_t>(q - above.cur.begin())] != states_[m]) ++q;
    s = static_cast<std::uint32_t>(q - above.cur.begin());
  }
  if (way.inside && m == order_ && !lists_) return;
  const Level& level = cascade_->level(m);
  plan(way, {level.label[s], m, s, static_cast<float>(level.node[s]), 0});
}

// Asks for the memory of the n-grams that a step needs, before any is taken.
void Detours::plan(const Way& way, const Step& step) {
  const Unit group = cascade_->group_of(step.label);
  for (Index n = step.level; n <= order_; ++n) {
    ngrams_->prefetch(mix(way.full[n - 1], static_cast<Key>(step.label)));
    ngrams_->prefetch(mix(way.coarse[n - 1], group));
  }
  steps_.push_back(step);
}

void Detours::go_to_candidate(const Way& way, std::int32_t number, const Step& step) {
  const Index m = step.level;
  const std::uint32_t s = step.state;
  const bool inside = way.inside && m == order_;
  Way next{};
  next.before = number, next.label = step.label, next.level = m, next.state = s, next.inside = inside;
  next.since = std::min<Index>(way.since + 1, 2);
  next.owed = next.since < 2 ? way.owed : 0;
  next.score = weigh(way, next.label, m, step.node, next);
  if (!(next.score + next.owed + (inside ? onward_.leaving(s) : onward_.from(m, s)) > limit_)) return;
  if (!lists_ && is_best_ && m == order_ && !(next.score > cascade_->paths.best[s])) return;
  keep(next);
}

// Goes on to labels that are no candidates.
void Detours::go_to_others(Index t, const Way& way, std::int32_t number) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Unit before = bounds.group(way.label);
  const double* const coarse = bounds.coarse(t).row(before);
  const float* const ending = bounds.ending_after(before);
  const auto try_label = [&](Label y, Index g, Index place, float score, double on) {
    if (way.score + way.owed + coarse[g] + static_cast<double>(score + ending[place]) + on > limit_ &&
        is_legal(way.label, y))
      plan(way, {y, 1, 0, score, on});
  };
  steps_.clear();
  for (const Onward::Named& label : onward_.named(t))
    try_label(label.label, bounds.group(label.label), bounds.place(label.label), label.score, label.on);
  if (way.score + way.owed + onward_.to_rest(t - 1, before) > limit_) plan_rests(t, way, try_label);
  for (const Step& step : steps_) go_to_label(t, way, number, step);
}

template <class Try>
void Detours::plan_rests(Index t, const Way& way, const Try& try_label) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Unit before = bounds.group(way.label);
  places_.resize(bounds.places());
  for (Index g = 0; g < bounds.groups(); ++g) {
    if (!(way.score + way.owed + onward_.through_rest(t, before, g) > limit_)) continue;
    if (!is_scored_[g]) {
      is_scored_[g] = 1;
      cascade_->score_dropped(t, g, units_.at(t), allowed_ ? allowed_[t - 1] : Allowed{}, places_.data());
      for (const Onward::Named& label : onward_.named(t)) places_[bounds.place(label.label)] = kNever<float>;
    }
    for (Index place = bounds.begin(g); place < bounds.begin(g + 1); ++place)
      if (const Label y = bounds.at(place); y >= 0 && places_[place] != kNever<float>)
        try_label(y, g, place, places_[place], onward_.from_label(t, y));
  }
}

void Detours::go_to_label(Index t, const Way& way, std::int32_t number, const Step& step) {
  Way next{};
  next.before = number, next.label = step.label;
  next.score = weigh(way, step.label, 1, step.node, next);
  if (!(next.score + way.owed + step.on > limit_)) return;
  next.owed = onward_.excess(t, step.label);
  keep(next);
}

// The score of a sequence gone on to a label, given the sum of what it scores and of n-grams of up to `level` labels;
// in single precision, as in lattices, but for the longest ones.
double Detours::weigh(const Way& way, Label y, Index level, float node, Way& next) const {
  const Unit group = cascade_->group_of(y);
  next.full[0] = mix(1, static_cast<Key>(y)), next.coarse[0] = mix(2, group);
  float last = 0;
  for (Index n = 1; n <= order_; ++n) {
    const Key full = mix(way.full[n - 1], static_cast<Key>(y)), coarse = mix(way.coarse[n - 1], group);
    if (n < order_) next.full[n] = full, next.coarse[n] = coarse;
    if (n < level) continue;
    last = ngrams_->at(full) + ngrams_->at(coarse);
    if (n < order_) node += last;
  }
  return way.score + static_cast<double>(last) + static_cast<double>(node);
}

// Of those with the same last labels, keeps the best, unless all are listed.
void Detours::keep(const Way& next) {
  if (lists_) return ways_.push_back(next);
  std::uint32_t& place = find_same(next);
  if (place) {
    Way& other = ways_[first_ + place - 1];
    if (next.score > other.score) other = next;
    return;
  }
  ways_.push_back(next);
  place = static_cast<std::uint32_t>(ways_.size() - first_);
  if (2 * std::size_t{place} <= same_.size()) return;
  same_.assign(2 * same_.size(), 0);
  for (std::size_t i = first_; i < ways_.size(); ++i) find_same(ways_[i]) = static_cast<std::uint32_t>(i - first_ + 1);
}

// Where it is written, or is to be, which sequence of the next position has the same last labels.
std::uint32_t& Detours::find_same(const Way& way) {
  const auto ends = [&](std::size_t slot) {
    return !same_[slot] || std::equal(way.full, way.full + order_, ways_[first_ + same_[slot] - 1].full);
  };
  return same_[find_slot(way.full[order_ - 1], same_.size() - 1, ends)];
}

// The labels of a complete sequence.
void Detours::trace(std::int32_t number, Found& out) const {
  Index t = cascade_->length() + 1;
  for (; ways_[number].before >= 0; --t, number = ways_[number].before)
    if (t <= cascade_->length()) out.labels[t - 1] = ways_[number].label;
  const Level& last = cascade_->level(order_);
  std::uint32_t s = ways_[number].state;
  for (; t > 0; --t, s = find_source(last, cascade_->paths, s)) out.labels[t - 1] = last.label[s];
}

}  // namespace certus::scoring
