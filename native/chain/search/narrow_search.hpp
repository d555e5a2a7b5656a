// The first search of `auto` where rows of transitions are long: it reads every emission once, and few transitions.
//
// To the right: with some labels kept at position t-1, the best of them with a way of score top(t-1), and rest(t-1)
// bounding all ways to the others, their best transition out included, no way on over label y of position t scores more
// than
//   promise(t, y) = max( rest(t-1) + enter[y],  top(t-1) + incoming[y] ) + node(t, y) + leave[y],
// which takes no transition. Blocks of labels promise what their labels do at most, and no more than the best
// transitions from the best labels kept into the block allow. Only blocks that promise enough are stepped to, with the
// transitions of these labels, and labels that still promise enough are bounded by the transitions of all labels kept.
// The best of them are kept; all else adds to rest(t). Any choice is correct.
//
// Traced through kept labels, this yields a path, of score `known`. To the left: what follows label y is at most
// leave[y] plus the best that follows any label, so the labels of a path that beats `known` promise enough, too. Of
// these, real transitions tell which are alive, and ways on count from these only. The answer lies among them.
#pragma once

#include <cmath>
#include <utility>

#include "chain/search/columns.hpp"
#include "chain/search/gather_top_labels.hpp"
#include "chain/search/scan_labels.hpp"
#include "chain/search/substitutions.hpp"
#include "chain/solver.hpp"

namespace certus {

template <class S>
class Narrow {
 public:
  enum class Outcome {
    found,   // the best path was written
    lost,    // too many labels would have to be looked into
    dead,    // there is no path
    invalid  // the emissions hold NaN, +inf or what is too large
  };

  Narrow(const Trellis<Dense<S>>& trellis, Counters& counters, Arena& arena)
      : lattice_(trellis), counters_(counters), arena_(arena) {}

  Outcome solve(Index* labels) {
    if (const Outcome end = sweep_right(); end != Outcome::found) return end;
    const double known = trace(labels);
    const double bound = std::max(kept_[T_ - 1].rest, kept_[T_ - 1].top);
    if (bound <= known) return Outcome::found;
    if (known == kNever<double>) return Outcome::lost;
    if (!sweep_left(known)) return Outcome::lost;
    if (kept_[0].count > 0) improve(known, labels);
    return Outcome::found;
  }

  // The same for a list of k paths: `list` writes the best ones through some connected columns and returns the score of
  // the last of them, or -inf if they are fewer.
  template <class List>
  Outcome solve_many(Index k, const List& list) {
    if (const Outcome end = sweep_right(); end != Outcome::found) return end;
    const double known = list_first(k, list);
    if (known == kNever<double> || !sweep_left(known) || kept_[0].count == 0) return Outcome::lost;
    if (is_within(listed_)) return Outcome::found;
    counters_.edges += connect_all(kept_, lattice_, arena_);
    list(Columns(kept_, T_));
    return Outcome::found;
  }

 private:
  struct Seen {
    Label label;
    double own;    // node score
    double bound;  // on the ways to it, or on from it
    double sum;    // with the potential on the other side
  };
  struct List {  // of all labels that promise at least `least` after the step
    Seen* seen = nullptr;
    Index count = 0;
    S least = std::numeric_limits<S>::infinity();
  };
  static constexpr Index kRows = 3;  // labels that are stepped from
  static constexpr Index kEffort =
      8;  // the share of the sentence's labels for which a transition to the left may be read
  static constexpr Index kFirst = 4;   // labels to list paths through at first, beside one for each two paths
  static constexpr Index kTied = 8;    // labels to keep where many promise the same,
  static constexpr Index kTries = 96;  // and to try
  static constexpr Index kMany = 8;    // the share of labels that are too many to look into
  // How boldly labels are kept; see choose_margin. Found by trial on trained and random models.
  static constexpr double kTrust = 0.4, kCaution = 0.1, kExpected = 1.5;

  const S* enter(Index t) const { return (t ? bounds_.enter_rounded : bounds_.nothing).data(); }
  const S* leave(Index t) const { return (t + 1 < T_ ? bounds_.leave_rounded : bounds_.nothing).data(); }
  double leave(Index t, Label y) const { return t + 1 < T_ ? bounds_.leave[y] : 0; }
  double transition(Label i, Label j) const { return static_cast<double>(lattice_.transitions.at(0, i, j)); }

  // What is known of position t without looking at any other.
  Scan<S> look(Index t) const {
    const auto& inside = t + 1 < T_ ? bounds_.inside_rounded : bounds_.incoming_rounded;
    return {lattice_.node(t), t ? inside.data() : leave(t), leave(t)};
  }
  // Reads all emissions.
  bool scan_all() {
    return scan_positions(0, 1) && (T_ == 1 || (scan_positions(1, T_ - 2) && scan_positions(T_ - 1, 1)));
  }
  bool scan_positions(Index t, Index positions) {
    heed_(4 * positions * L_);
    const bool suspicious = scan(look(t), near_ + t * room_, own_ + t * room_, L_, positions, lattice_.stride);
    for (Index u = t; (suspicious || !moderate_) && u < t + positions; ++u)
      if (first_beyond(lattice_.data + u * lattice_.stride, L_, lattice_.model->limit(T_)) >= 0) return false;
    return true;
  }

  Outcome sweep_right() {
    ++counters_.iterations;
    if (!scan_all()) return Outcome::invalid;
    for (Index t = 0; t < T_; ++t, heed_(L_)) {
      const Steps<S> steps = prepare(t);
      const Promises<S> promises = promise(t, steps);
      if (promises.near[promises.best] == kNever<S>) return Outcome::dead;
      choose(t, steps, promises);
      keep(t);
      if (hopeless_ > 2 + T_ / 8 || kept_[t].top == kNever<double>) return Outcome::lost;
    }
    return Outcome::found;
  }

  // The step from the best labels kept at position t - 1; all sums are less `origin`.
  Steps<S> prepare(Index t) {
    const Column* from = t ? kept_ + t - 1 : nullptr;
    origin_ = from ? from->top : 0;
    const double rest = from ? from->rest - from->top : 0;
    const Index rows = from ? std::min(kRows, from->count) : 0;
    for (Index i = 0; i < rows; ++i) rows_[i] = lattice_.transitions.row(0, from->label[i], nullptr);
    for (Index i = 0; i <= rows; ++i)
      alpha_[i] = from && i < from->count ? static_cast<S>(from->bound[i] - from->top) : kNever<S>;
    magnitude_ = 2 * bounds_.largest + (std::isfinite(rest) ? std::abs(rest) : 0);
    for (Index i = 0; i <= rows; ++i)
      if (alpha_[i] != kNever<S>)
        magnitude_ = std::max(magnitude_, 2 * bounds_.largest - static_cast<double>(alpha_[i]));
    return {reach_,
            lattice_.node(t),
            enter(t),
            static_cast<S>(rest),
            leave(t),
            rows_,
            alpha_,
            rows,
            bounds_.incoming_rounded.data(),
            alpha_[rows]};
  }
  // Finds what blocks promise.
  Promises<S> promise(Index t, const Steps<S>& steps) {
    for (Index i = 0; i < steps.count; ++i) blocks_of_rows_[i] = bounds_.best_into + kept_[t - 1].label[i] * room_;
    Promises<S> promises{near_ + t * room_, own_ + t * room_, (t ? bounds_.enter_most : bounds_.nothing).data(),
                         blocks_of_rows_};
    certus::promise(steps, promises, L_);
    return promises;
  }

  // Labels are kept that could overtake the best one if it goes on with a usual transition: the mean of all, raised by
  // a part of what those between the best labels so far had over it, less a part of what the best transition out of a
  // label has over it on average.
  double choose_margin(Index t) const {
    const double usual = bounds_.mean + kTrust * std::max(0.0, taken_ / steps_);
    return (t + 1 < T_ ? usual : 0) - kCaution * bounds_.spread;
  }

  // Looks into all labels that promise as much as those that will be kept, unless these are too many.
  void choose(Index t, const Steps<S>& steps, const Promises<S>& promises) {
    margin_ = choose_margin(t);
    floor_ = kNever<double>;
    count_ = 0;
    if (2 * promises.tied > block_count<S>(L_) + 1) return take_tied(t, steps, promises.near[promises.best]);
    std::copy_n(promises.near, room_, blocks_.most);
    const S margin = static_cast<S>(margin_);
    const S highest = step_blocks(steps, blocks_, L_, promises.best, kNever<S>, margin);
    floor_ = origin_ + static_cast<double>(highest) + margin_;
    counters_.edges += steps.count * kBlock<S> * blocks_.count;
    List& list = lists_[t];
    list.least = highest + margin;
    const S most = largest(blocks_.most, room_);
    S least = std::min(most, list.least);
    collect(least, std::numeric_limits<S>::infinity());
    if (count_ > L_ / kMany) {
      ++hopeless_;
      list.least = least = most;
      count_ = 0;
      collect(least, std::numeric_limits<S>::infinity());
    }
    beyond_ = kNever<double>;
    if (below_ != kNever<S>) {
      const double below = static_cast<double>(below_);
      beyond_ = origin_ + below + rounding<S>(std::abs(below) + magnitude_);
    }
    look_into(t, 0);
    if (least < list.least) return;  // no label promises enough
    list.count = count_;
    list.seen = arena_.get<Seen>(count_);
    std::copy_n(found_, count_, list.seen);
  }
  // Where a great many labels promise the same: looks into some of them.
  void take_tied(Index t, const Steps<S>& steps, S most) {
    beyond_ = std::is_same_v<S, double> ? origin_ + static_cast<double>(most) : measure(t);
    const Scan<S> at = look(t);
    Index tries = 0, spare = 0;
    for (Index y = 0; y < L_ && count_ < kTied && tries < kTries; ++y) {
      const S near = at.node[y] + at.inside[y], far = steps.rest + steps.enter[y] + at.node[y] + at.leave[y];
      if (std::max(near, far) < most) continue;
      if (++tries <= kTied) labels_[spare++].label = static_cast<Label>(y);
      if (is_met(t, static_cast<Label>(y))) found_[count_++].label = static_cast<Label>(y);
    }
    for (Index n = 0; count_ == 0 && n < spare; ++n) found_[n].label = labels_[n].label;
    if (count_ == 0) count_ = spare;
    look_into(t, 0);
  }
  // Whether a way over a label kept before to label y of position t comes to all that any label promises.
  bool is_met(Index t, Label y) {
    if (t == 0) return true;
    const double need = beyond_ - static_cast<double>(lattice_.node(t)[y]) - leave(t, y);
    const Column& from = kept_[t - 1];
    for (Index a = 0; a < from.count; ++a) {
      ++counters_.edges;
      if (from.bound[a] + transition(from.label[a], y) >= need) return true;
    }
    return false;
  }

  // What any label of position t promises at most, without rounding: ties would no longer look like ties.
  double measure(Index t) const {
    const bool last = t + 1 == T_;
    if (t == 0 && last) return static_cast<double>(largest(lattice_.node(t), L_));
    if (t == 0) return find_promise(lattice_.node(t), bounds_.leave.data(), 0, bounds_.leave.data(), 0, L_);
    const Column& from = kept_[t - 1];
    return find_promise(lattice_.node(t), (last ? bounds_.incoming : bounds_.inside).data(), from.top,
                        (last ? bounds_.enter : bounds_.outside).data(), from.rest, L_);
  }

  // Adds the labels that promise at least `least` by the step, but less than `limit`.
  void collect(S least, S limit) {
    const Index count = certus::collect(reach_, blocks_, least, labels_, &below_);
    for (Index n = 0; n < count; ++n)
      if (labels_[n].value < limit && labels_[n].label < L_) found_[count_++].label = labels_[n].label;
  }

  // Bounds the ways to labels found, from number `begin` on, by real transitions.
  void look_into(Index t, Index begin) {
    const S* const node = lattice_.node(t);
    for (Index n = begin; n < count_; ++n) {
      Seen& s = found_[n];
      const double out = leave(t, s.label);
      s.own = static_cast<double>(node[s.label]);
      s.bound = s.own + arrive(t, s.label, floor_ - s.own - out);
      s.sum = s.bound + out;
      floor_ = std::max(floor_, s.bound + margin_);
    }
  }
  // A bound on the ways to label y of position t, without its node; exact if it is at least `need`.
  double arrive(Index t, Label y, double need) {
    if (t == 0) return 0;
    const Column& from = kept_[t - 1];
    const double incoming = bounds_.incoming[y];
    double best = from.rest + bounds_.enter[y];
    for (Index a = 0; a < from.count; ++a) {
      const double most = from.bound[a] + incoming;
      if (most <= best) break;
      if (most < need) return most;
      ++counters_.edges;
      best = std::max(best, from.bound[a] + transition(from.label[a], y));
    }
    return best;
  }
  // The same for ways on from label y of position t.
  double depart(Index t, Label y, double need) {
    if (t + 1 == T_) return 0;
    const Column& to = kept_[t + 1];
    const double outgoing = bounds_.leave[y];
    double best = kNever<double>;
    for (Index a = 0; a < to.count; ++a) {
      const double most = to.bound[a] + outgoing;
      if (most <= best) break;
      if (most < need) return most;
      ++counters_.edges;
      best = std::max(best, to.bound[a] + transition(y, to.label[a]));
    }
    return best;
  }

  // Makes a column of the best labels found.
  void keep(Index t) {
    double rest = beyond_;
    const auto best =
        std::max_element(found_, found_ + count_, [](const Seen& a, const Seen& b) { return a.bound < b.bound; });
    std::swap(*best, found_[0]);
    Index count = 1;
    for (Index n = 1; n < count_; ++n) {
      if (found_[n].sum >= floor_) std::swap(found_[count++], found_[n]);
      else rest = std::max(rest, found_[n].sum);
    }
    if (count > few_) {
      std::nth_element(found_ + 1, found_ + few_, found_ + count,
                       [](const Seen& a, const Seen& b) { return a.sum > b.sum; });
      for (Index n = few_; n < count; ++n) rest = std::max(rest, found_[n].sum);
      count = few_;
    }
    if (t > 0) {
      const double x = transition(kept_[t - 1].label[0], found_[0].label) - bounds_.mean;
      if (x != kNever<double>) taken_ += x, ++steps_;
    }
    fill(t, count, rest);
  }
  // Writes the first labels found to the column of position t, the best one first.
  void fill(Index t, Index count, double rest) {
    std::sort(found_, found_ + count,
              [](const Seen& a, const Seen& b) { return a.bound != b.bound ? a.bound > b.bound : a.label < b.label; });
    Column& c = kept_[t];
    c.reserve(count, arena_);
    for (Index n = 0; n < count; ++n)
      c.label[n] = found_[n].label, c.own[n] = found_[n].own, c.bound[n] = found_[n].bound;
    c.count = count;
    c.top = count ? c.bound[0] : kNever<double>;
    c.rest = rest;
    counters_.activated += count;
  }

  // A path through kept labels and its score; -inf when tracing meets a dead end.
  double trace(Index* labels) const {
    const Column* c = kept_ + T_ - 1;
    double score = c->own[0];
    labels[T_ - 1] = c->label[0];
    for (Index t = T_ - 1; t > 0; --t) {
      const Column& from = kept_[t - 1];
      double best = kNever<double>, taken = kNever<double>;
      Index a = 0;
      for (Index i = 0; i < from.count && from.bound[i] + bounds_.incoming[labels[t]] > best; ++i) {
        const double x = transition(from.label[i], static_cast<Label>(labels[t]));
        if (from.bound[i] + x > best) best = from.bound[i] + x, taken = x, a = i;
      }
      score += taken + from.own[a];
      labels[t - 1] = from.label[a];
    }
    return score;
  }
  // Lists k paths through the best labels kept at each position and those of the best path, or, where these have fewer,
  // through labels that the best path would change for least. Returns the score of the last.
  template <class List>
  double list_first(Index k, const List& list) {
    Index* path = arena_.get<Index>(T_);
    if (trace(path) == kNever<double>) return kNever<double>;
    listed_ = arena_.get<Column>(T_, Column{});
    const Index most = k / 2 + kFirst;
    for (Index t = 0; t < T_; ++t) {
      const Column& all = kept_[t];
      Column& c = listed_[t];
      c.reserve(std::min(most, all.count) + 1, arena_);
      for (Index n = 0; n < all.count; ++n)
        if (n < most || all.label[n] == path[t]) c.label[c.count] = all.label[n], c.own[c.count++] = all.own[n];
    }
    counters_.edges += connect_all(listed_, lattice_, arena_);
    if (const double last = list(Columns(listed_, T_)); last != kNever<double>) return last;
    listed_ = Substitutions<Dense<S>>(lattice_, arena_).collect_best(path, k - 1, few_);
    counters_.edges += connect_all(listed_, lattice_, arena_);
    return list(Columns(listed_, T_));
  }
  // Whether some columns have all labels that are kept.
  bool is_within(const Column* columns) const {
    for (Index t = 0; t < T_; ++t)
      if (!columns[t].contains(kept_[t].label, kept_[t].count)) return false;
    return true;
  }
  // Writes the best path through kept labels, if it scores more than `known`.
  void improve(double known, Index* labels) {
    counters_.edges += connect_all(kept_, lattice_, arena_);
    Columns(kept_, T_).trace(known, labels);
  }

  // Keeps the labels that are alive: those of the paths that beat `known`, or may. False where they are too many. Where
  // nothing beats it, all columns are empty.
  bool sweep_left(double known) {
    ++counters_.iterations;
    counters_.activated = 0;
    const Index limit = counters_.edges + effort_;
    const double least = known - 1e-9 * std::max(1.0, std::abs(known));
    for (Index t = T_ - 1; t >= 0; --t, heed_(L_)) {
      const Steps<S> steps = prepare(t);
      double follow = t + 1 < T_ ? kNever<double> : 0;
      for (Index n = 0; t + 1 < T_ && n < kept_[t + 1].count; ++n)
        follow = std::max(follow, kept_[t + 1].bound[n] + bounds_.enter[kept_[t + 1].label[n]]);
      const double need = least - follow - origin_;
      const List& list = lists_[t];
      count_ = list.count;
      std::copy_n(list.seen, count_, found_);
      const S bar = static_cast<S>(need - rounding<S>(std::abs(need) + magnitude_));
      if (bar < list.least) {
        std::copy_n(near_ + t * room_, room_, blocks_.most);
        floor_ = least - follow, margin_ = kNever<double>;
        step_blocks(steps, blocks_, L_, 0, bar, kNever<S>);
        collect(bar, list.least);
        if (count_ > L_ / kMany) return false;
        look_into(t, list.count);
      }
      if (!drop_dead(t, least, follow, limit)) return false;
      if (count_ == 0) {
        for (Index u = 0; u < T_; ++u) kept_[u].count = 0;
        return true;
      }
      fill(t, count_, kNever<double>);
    }
    return Columns(kept_, T_).edges() <= effort_;
  }
  // Of the labels found at position t, leaves those that a path of score `least` may take, each with a bound on the
  // ways on from it; false where more transitions than `limit` would be looked at.
  bool drop_dead(Index t, double least, double follow, Index limit) {
    Index count = 0;
    for (Index n = 0; n < count_; ++n) {
      if (counters_.edges > limit) return false;
      Seen s = found_[n];
      if (s.sum + follow < least) continue;
      const double after = depart(t, s.label, least - s.bound);
      if (!(s.bound + after >= least)) continue;
      s.bound = s.own + after;
      found_[count++] = s;
    }
    count_ = count;
    return true;
  }

  const Trellis<Dense<S>>& lattice_;
  Counters& counters_;
  Arena& arena_;
  Heed heed_;
  const Bounds<S>& bounds_ = lattice_.model->bounds();
  Index T_ = lattice_.length, L_ = lattice_.labels, room_ = padded_blocks<S>(L_);
  Index few_ = std::max(Index{16}, L_ / 20);  // labels to keep of a position, at most
  const bool moderate_ =
      lattice_.model->allows_moderate(T_);           // whether emissions that are moderate need no second look
  S* near_ = arena_.get<S>(T_ * room_);              // [T][blocks]: what blocks promise
  S* own_ = arena_.get<S>(T_ * room_);               // [T][blocks]: the best score in them, with a transition out
  List* lists_ = arena_.get<List>(T_, List{});       // [T]: the labels that were looked into on the way to the right
  Column* kept_ = arena_.get<Column>(T_, Column{});  // [T]: by the last sweep
  Column* listed_ = nullptr;                         // [T]: what the first list of paths runs through
  S* reach_ = arena_.get<S>(padded(L_));             // [L]: the step to the position at hand,
  Blocks<S> blocks_{arena_.get<S>(room_), arena_.get<Label>(room_)};  // and the blocks that it went to
  Found<S>* labels_ = arena_.get<Found<S>>(padded(L_) + 1);
  Seen* found_ = arena_.get<Seen>(L_ + 1);     // labels of the position at hand that were looked into
  Index count_ = 0;                            // how many these are
  const S* rows_[kRows];                       // transitions of labels that are stepped from,
  const S* blocks_of_rows_[kRows];             // the best of these into each block,
  S alpha_[kRows + 1];                         // and ways to them
  S below_ = 0;                                // what others promise at most, less `origin`,
  double beyond_ = 0;                          // and what all others do
  double origin_ = 0;                          // what promises of the position at hand are less by
  double magnitude_ = 0;                       // the largest magnitude among their parts
  double floor_ = 0;                           // what ways have to reach, their potential included, to be kept:
  double margin_ = 0;                          // so much more than the best way to a label found
  double taken_ = kExpected * bounds_.spread;  // transitions between the best labels so far over the mean of all,
  double steps_ = 1;                           // the first of them a guess
  const Index effort_ = T_ * L_ / kEffort;     // transitions that may be read to the left
  Index hopeless_ = 0;                         // positions where too many labels promise enough
};

}  // namespace certus
