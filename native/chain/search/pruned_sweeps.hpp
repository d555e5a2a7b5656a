// The search of `auto`: sweeps over the sentence that step from a few labels per position to all labels, with one
// number standing for the labels that were not stepped from.
//
// A sweep to the right computes, for every label y at position t, a bound on the ways that end there,
//   before(t, y) = node(t, y) + max( rest + enter[y],  max over labels i kept at t-1 of before(t-1, i) + transition(i,
//   y) ), rest = max over labels not kept at t-1 of before(t-1, y) + leave[y],
// and one to the left a bound on the ways on,
//   after(t, y) = max( rest + leave[y],  max over labels c kept at t+1 of transition(y, c) + node(t+1, c) + after(t+1,
//   c) ), rest = max over labels not kept at t+1 of node(t+1, y) + after(t+1, y) + enter[y],
// with the potentials of Bounds, transition(i, j) <= leave[i] + enter[j].
//
// Traced through kept labels, a sweep also yields a real path; `known` is the score of the best one. Every path that
// beats it runs through labels with before + after > known: these are alive, all others are out, and do not count in
// `rest` either. Where the labels alive are few, all are kept. Once they are at every position, the answer lies among
// them, and solving there is trivial. Sweeps alternate, each with the other's bounds, until that is so.
//
// Rows of a large matrix take most of the time. There, only the best labels kept are stepped from in full. The others
// are bounded by the best transition into each label (to the left: out of it), and the few labels that may matter by
// that are refined, which reads only the transitions to these. All other labels keep the looser bound.
#pragma once

#include <cmath>

#include "chain/search/columns.hpp"
#include "chain/search/forward_pass.hpp"
#include "chain/search/gather_top_labels.hpp"
#include "chain/solver.hpp"

namespace certus {

template <class Tr>
class Pruned {
 public:
  using S = typename Tr::Score;

  Pruned(const Trellis<Tr>& trellis, bool generous, Counters& counters, Arena& arena)
      : lattice_(trellis), generous_(generous), counters_(counters), arena_(arena) {}

  enum class Sweep {
    complete,  // the kept labels are all that can matter
    partial,   // they are not, yet
    lost,      // too many labels are alive for the effort that was allowed
    flat,      // there is nothing to prune by
    dead,      // there is no path
    invalid    // the emissions hold NaN, +inf or what is too large
  };

  // The first sweep, to the right: keeps up to `most` labels that could overtake the best one if it goes on with a
  // usual transition. That is the mean of all, raised by `trust` times what those between the best labels so far had
  // over it, less `caution` times what the best transition out of a label has over it on average; `expected` times
  // that is the guess at the start. Any values are correct.
  Sweep explore(Index most, double trust, double caution, double expected) {
    begin();
    spent_ = futile_ = 0;
    // Transitions between the best labels so far, over the mean of all, the first of them a guess.
    double taken = expected * bounds_.spread, steps = 1;
    Label last = 0;
    Index hopeless = 0;  // positions where most labels could overtake the best one
    for (Index t = 0; t < T_; ++t, heed_((4 + loaded_) * L_)) {
      bool suspicious;
      S highest = step_right(t, leave(t), coarse_ && kPatience * futile_ <= t, &suspicious);
      if ((suspicious || !moderate_) &&
          first_beyond(lattice_.data + t * lattice_.stride, L_, lattice_.model->limit(T_)) >= 0)
        return Sweep::invalid;
      origin_promise_[t] = origin_before_[t];
      const double usual = bounds_.mean + trust * std::max(0.0, taken / steps);
      const double margin = t + 1 < T_ ? usual - caution * bounds_.spread : -caution * bounds_.spread;
      gather_promising(t, most, margin, &highest);
      if (highest == kNever<S>) return Sweep::dead;
      hopeless += is_hopeless();
      if (hopeless > (L_ < 512 ? 1 + T_ / 16 : 2 + T_ / 8)) return Sweep::flat;
      if (spent_ > budget_) return Sweep::lost;
      for (Index c = 0; c < chunks_; ++c) promise_[t * chunks_ + c] = maxima_.chunk[c];
      const Label best = include(before_ + t * width_, highest);
      if (t > 0) {
        const double x = transition(t - 1, last, best) - bounds_.mean;
        if (x != kNever<double>) taken += x, ++steps;
      }
      last = best;
      keep_right(t, most);
      if (kept_[t].top == kNever<double>) return Sweep::lost;
    }
    return Sweep::partial;
  }

  // The sweeps after that, each way in turn, keeping up to `most` labels per position. Where no label of a position is
  // alive nothing beats `known`, and all columns are left empty. Where a great many are alive because little is known
  // yet, a sweep to the left that is given some number `best` keeps only that many: enough to know more.
  Sweep sweep_left(double known, Index most, Index best = 0) {
    if (!after_) after_ = arena_.get<S>(T_ * width_);
    begin();
    bool complete = true;
    for (Index t = T_ - 1; t >= 0; --t, heed_((4 + loaded_) * L_)) {
      step_left(t, known, coarse_);
      bool all = gather_alive(t, after_, before_, known, refines() ? 0 : best);
      if (refines() && !refine_alive(t, known, true)) {
        step_left(t, known, false);
        all = gather_alive(t, after_, before_, known, best);
      }
      if (!all) bound_others(t);
      keep_left(t, all ? afford(most) : best);
      if (const Sweep end = end_position(t, &complete); end != Sweep::partial) return end;
    }
    return complete ? Sweep::complete : Sweep::partial;
  }
  Sweep sweep_right(double known, Index most) {
    begin();
    bool complete = true;
    for (Index t = 0; t < T_; ++t, heed_((4 + loaded_) * L_)) {
      bool unused;
      step_right(t, after_ + t * width_, coarse_, &unused);
      gather_alive(t, before_, after_, known);
      if (refines() && !refine_alive(t, known, false)) {
        step_right(t, after_ + t * width_, false, &unused);
        gather_alive(t, before_, after_, known);
      }
      keep_right(t, afford(most));
      if (const Sweep end = end_position(t, &complete); end != Sweep::partial) return end;
    }
    return complete ? Sweep::complete : Sweep::partial;
  }

  // After a sweep to the right: a bound on all paths (or, after the first one, on those that beat `known`).
  double bound() const { return std::max(kept_[T_ - 1].rest, kept_[T_ - 1].top); }

  // After a sweep to the right: a real path through kept labels, and its score; -inf when tracing meets a dead end.
  double trace(Index* labels) const {
    const Column* c = kept_ + T_ - 1;
    Index b = std::max_element(c->bound, c->bound + c->count) - c->bound;
    double score = c->own[b];
    labels[T_ - 1] = c->label[b];
    for (Index t = T_ - 1; t > 0; --t) {
      const Column& from = kept_[t - 1];
      double best = kNever<double>, taken = kNever<double>;
      Index a = 0;
      for (Index i = 0; i < from.count; ++i) {
        const double x = transition(t - 1, from.label[i], static_cast<Label>(labels[t]));
        if (from.bound[i] + x > best) best = from.bound[i] + x, taken = x, a = i;
      }
      score += taken + from.own[a];
      labels[t - 1] = from.label[a];
    }
    return score;
  }

  // The kept labels, connected.
  Columns connect() {
    counters_.edges += connect_all(kept_, lattice_, arena_);
    return {kept_, T_};
  }
  // Whether all kept labels are among those of some columns.
  bool within(const Columns& columns) const { return Columns(kept_, T_).within(columns.column); }
  // Whether sweeps read few of the transitions.
  bool coarse() const { return coarse_; }
  // The transitions that connecting takes.
  Index edges() const { return Columns(kept_, T_).edges(); }

 private:
  static constexpr Index kShare = 4;
  static constexpr Index kPatience = 4;  // steps for each coarse one that is futile
  static constexpr Index kMany = 3;      // times the labels to keep: groups that are too many to collect from
  static constexpr Index kExact = 32;    // labels up to which bounds are summed again in double
  static constexpr Index kCoarse = Index{16} << 20;  // bytes of transitions from which on few of them are read,
  static constexpr Index kRows = 3;                  // and labels that are stepped from in full there

  void begin() {
    ++counters_.iterations;
    counters_.activated = 0;
  }
  // Whether a sweep goes on after position t: it is `partial` then.
  Sweep end_position(Index t, bool* complete) {
    *complete &= kept_[t].rest == kNever<double>;
    if (kept_[t].count > 0) return spent_ > budget_ ? Sweep::lost : Sweep::partial;
    for (Index u = 0; u < T_; ++u) kept_[u].count = 0;
    return Sweep::complete;
  }

  const S* enter(Index t) const { return t ? bounds_.enter_rounded.data() : bounds_.nothing.data(); }
  const S* leave(Index t) const { return t + 1 < T_ ? bounds_.leave_rounded.data() : bounds_.nothing.data(); }
  double transition(Index t, Label i, Label j) const { return static_cast<double>(lattice_.at(t, i, j)); }

  // Steps from the labels kept at position t - 1 (none at the start); the maxima are those of before + other.
  S step_right(Index t, const S* other, bool coarse, bool* suspicious) {
    Column* from = t ? kept_ + t - 1 : nullptr;
    load(from, false, coarse, kRows,
         [&](Index i, S* buffer) { return lattice_.transitions.row(t - 1, from->label[i], buffer); });
    origin_before_[t] = from ? from->top : 0;
    const S rest = from ? static_cast<S>(from->rest - from->top) : S{0};
    spend(chunks_);
    const S* cap = refines() ? bounds_.incoming_rounded.data() : nullptr;
    const S lift = cap ? alpha_[loaded_] : S{0};
    const Index ahead = t + 2 < T_ ? lattice_.stride : 0;
    return step(
        {before_ + t * width_, lattice_.node(t), enter(t), rest, other, rows_, alpha_, loaded_, cap, lift, ahead},
        maxima_, L_, suspicious);
  }
  // Only to the chunks of labels that are not out already: by what they promised in the first sweep, and the best
  // that could follow.
  void step_left(Index t, double known, bool coarse) {
    Column* from = t + 1 < T_ ? kept_ + t + 1 : nullptr;
    load(from, true, coarse, 0, [&](Index i, S* buffer) { return enter_label(lattice_, t, from->label[i], buffer); });
    origin_after_[t] = from ? from->top : 0;
    double follow = from ? from->rest : 0;
    for (Index c = 0; c < stepping_; ++c) follow = std::max(follow, from->bound[c] + bounds_.enter[from->label[c]]);
    const double need = known - origin_promise_[t] - follow;
    const S least = static_cast<S>(need - doubt(need, known));
    const S rest = from ? static_cast<S>((refines() ? follow : from->rest) - from->top) : S{0};
    S* after = after_ + t * width_;
    const Steps<S> steps{
        after, bounds_.nothing.data(), leave(t), rest, before_ + t * width_, rows_, alpha_, loaded_, nullptr, S{0}};
    for (Index c = 0; c < chunks_; ++c) {
      if (promise_[t * chunks_ + c] >= least) {
        step_chunk(steps, maxima_, L_, c);
        spend(1);
      } else {
        maxima_.chunk[c] = kNever<S>;
        std::fill_n(maxima_.group + c * kLanes, kLanes, kNever<S>);
        std::fill(after + c * kChunk, after + std::min(width_, (c + 1) * kChunk), kNever<S>);
      }
    }
  }

  // What step() takes: the scores of the labels it steps from, less the largest, and their transitions.
  // Listed transitions are written out for a few labels, and for more in one row of what is best among them, so that
  // memory does not grow with the square of the labels.
  // A coarse step takes the transitions of the `most` best labels only.
  template <class Row>
  void load(Column* from, bool leftward, bool coarse, Index most, Row row) {
    stepping_ = from ? from->count : 0;
    const bool listed = std::is_same_v<Tr, Sparse<S>> && stepping_ > kExact;
    loaded_ = listed ? 1 : coarse ? std::min(most, stepping_) : stepping_;
    if (loaded_ < stepping_ && !listed) from->sort(arena_);
    make_room(stepping_);
    magnitude_ = bounds_.largest;
    for (Index i = 0; i < stepping_; ++i) {
      const double x = from->bound[i] - from->top;
      alpha_[i] = static_cast<S>(x);
      if (x != kNever<double>) magnitude_ = std::max(magnitude_, bounds_.largest - x);
      if (!listed && i < loaded_) rows_[i] = row(i, buffers_ + i * width_);
    }
    if (listed) load_best(*from, leftward);
    counters_.edges += (listed ? stepping_ : loaded_) * L_;
  }
  // Whether the last step bounded some labels that it could have stepped from.
  bool refines() const { return coarse_ && loaded_ < stepping_; }
  void load_best(const Column& from, bool leftward) {
    if constexpr (std::is_same_v<Tr, Sparse<S>>) {
      const Arena::Scope scope(arena_);
      S* scores = arena_.get<S>(L_, kNever<S>);
      for (Index i = 0; i < stepping_; ++i) scores[from.label[i]] = alpha_[i];
      const Tr& tr = lattice_.transitions;
      if (leftward) arrive_listed(tr.transpose(), bounds_.incoming_rounded.data(), scores, buffers_, heed_, arena_);
      else arrive_listed(tr, bounds_.leave_rounded.data(), scores, buffers_, heed_, arena_);
      rows_[0] = buffers_, alpha_[0] = 0;
    }
  }

  // Collects the labels with x + other >= least; `below` becomes a bound on x + other for all the others. Where more
  // than `limit` groups would be looked into, `least` is raised, so that `most` are.
  void gather(const S* x, const S* other, S least, Index limit, Index most) {
    wanted_ = mark(maxima_, chunks_, least, marked_, &below_);
    if (wanted_ > limit) {
      const Arena::Scope scope(arena_);
      S* sorted = arena_.get<S>(chunks_ * kLanes);
      std::copy_n(maxima_.group, chunks_ * kLanes, sorted);
      std::nth_element(sorted, sorted + most - 1, sorted + chunks_ * kLanes, std::greater<>());
      least = std::max(least, sorted[most - 1]);
      mark(maxima_, chunks_, least, marked_, &below_);
    }
    count_ = collect(x, other, L_, marked_, least, found_, &below_);
    spent_ += 6 * count_;
  }

  // In the first sweep: collects the labels whose `before` and best transition out are at least the largest `before`,
  // plus `margin`.
  void gather_promising(Index t, Index most, double margin, S* highest) {
    const auto raise = [&] { return static_cast<S>(static_cast<double>(*highest) + margin); };
    gather(before_ + t * width_, leave(t), raise(), most, most);
    if (!refines() || (is_hopeless() && *highest != kNever<S>)) return;
    if (wanted_ <= most) {
      *highest = std::max(*highest, refine(t, false, leave(t), raise()));
      count_ = drop_below(found_, count_, raise(), &below_);
      if (count_ > 0) return;
    }
    bool unused;
    ++futile_;
    *highest = step_right(t, leave(t), false, &unused);
    gather(before_ + t * width_, leave(t), raise(), most, most);
  }
  // Whether most labels could overtake the best one.
  bool is_hopeless() const { return 3 * wanted_ > 2 * chunks_ * kLanes; }
  // Of labels that may be alive by bounds keeps those that are; false where refining them would not pay.
  bool refine_alive(Index t, double known, bool leftward) {
    if (wanted_ > chunks_ * kLanes / kShare) return false;
    const S bar = find_bar(t, known);
    refine(t, leftward, (leftward ? before_ : after_) + t * width_, bar);
    count_ = drop_below(found_, count_, bar, &below_);
    below_ = kNever<S>;
    return true;
  }

  // Takes the step again to the labels found, by the transitions that may lift them to `least`; returns the largest x.
  S refine(Index t, bool leftward, const S* other, S least) {
    const Column& from = kept_[leftward ? t + 1 : t - 1];
    const S* const potential = leftward ? leave(t) : enter(t);
    const S* const cap = leftward ? potential : bounds_.incoming_rounded.data();
    S* const x = (leftward ? after_ : before_) + t * width_;
    const S rest = static_cast<S>(from.rest - from.top);
    S most = kNever<S>;
    Index pairs = 0;
    for (Index n = 0; n < count_; ++n) {
      const Label y = found_[n].label;
      const S node = leftward ? S{0} : lattice_.node(t)[y], need = least - node - other[y];
      S best = rest + potential[y];
      Index a = 0;
      for (; a < stepping_ && !(alpha_[a] + cap[y] < need); ++a)
        best = std::max(
            best, alpha_[a] + (leftward ? lattice_.at(t, y, from.label[a]) : lattice_.at(t - 1, from.label[a], y)));
      if (a < stepping_) best = std::max(best, alpha_[a] + cap[y]);
      pairs += a;
      x[y] = best + node;
      found_[n].value = x[y] + other[y];
      most = std::max(most, x[y]);
    }
    counters_.edges += pairs;
    spent_ += pairs;
    return most;
  }
  // Puts a label with the largest x among those found, first in rank: after a coarse step the largest of these.
  Label include(const S* x, S highest) {
    constexpr S first = std::numeric_limits<S>::infinity();
    if (refines()) highest = kNever<S>;
    for (Index n = 0; refines() && n < count_; ++n) highest = std::max(highest, x[found_[n].label]);
    for (Index n = 0; n < count_; ++n)
      if (x[found_[n].label] == highest) {
        found_[n].value = first;
        return found_[n].label;
      }
    found_[count_] = {first, static_cast<Label>(std::find(x, x + L_, highest) - x)};
    return found_[count_++].label;
  }

  // Collects the labels alive; nothing is below, for the others are out. If more groups than kMany times `best` hold
  // some, it collects only those of the `best` groups. Tells whether it collected all.
  bool gather_alive(Index t, const S* x, const S* other, double known, Index best = 0) {
    const Index limit = best ? kMany * best : chunks_ * kLanes;
    gather(x + t * width_, other + t * width_, find_bar(t, known), limit, best);
    below_ = kNever<S>;
    return wanted_ <= limit;
  }
  // What before + after of labels alive is, at least.
  S find_bar(Index t, double known) const {
    const double need = known - origin_before_[t] - origin_after_[t];
    return static_cast<S>(need - doubt(need, known));
  }
  // In a sweep to the left: bounds all labels that were not collected, whether alive or not.
  void bound_others(Index t) {
    const Arena::Scope scope(arena_);
    S* own = arena_.get<S>(width_);
    S* sums = arena_.get<S>(width_);
    add_max(own, after_ + t * width_, lattice_.node(t), L_);
    add_max(sums, own, enter(t), L_);
    for (Index n = 0; n < count_; ++n) sums[found_[n].label] = kNever<S>;
    below_ = largest(sums, L_);
  }

  // How many of the labels alive to keep: more than `most` where stepping from all of them takes a small part of what
  // is left to spend, as at the one word of a sentence that nothing is known of.
  Index afford(Index most) const {
    const Index steps = count_ * chunks_ * (kChunk / kLanes);
    return generous_ && kShare * steps < budget_ - spent_ ? std::max(most, count_) : most;
  }

  // Rounding must lose neither a label nor the known paths themselves.
  double doubt(double need, double known) const {
    return std::max(1e-9 * std::max(1.0, std::abs(known)), rounding<S>(std::abs(need) + magnitude_));
  }

  // Counts the vector operations of stepping to some chunks.
  void spend(Index chunks) { spent_ += chunks * (loaded_ + 6) * (kChunk / kLanes); }

  // Makes a column of the `most` best labels found, and bounds the others, whose x has the potential added.
  template <class Bound>
  void keep(Index t, Index most, const S* x, double origin, const S* potential, Bound bound) {
    Column& c = kept_[t];
    const Index count = std::min(most, count_);
    if (count < count_) std::nth_element(found_, found_ + count, found_ + count_);
    c.reserve(count, arena_);
    c.top = c.rest = kNever<double>;
    for (Index n = 0; n < count; ++n) {
      const Label y = found_[n].label;
      c.label[n] = y;
      c.own[n] = static_cast<double>(lattice_.node(t)[y]);
      c.bound[n] = bound(y, c.own[n]);
      c.top = std::max(c.top, c.bound[n]);
    }
    c.count = count;
    counters_.activated += count;
    S rest = below_;
    for (Index n = count; n < count_; ++n) rest = std::max(rest, x[found_[n].label] + potential[found_[n].label]);
    if (rest != kNever<S>)
      c.rest = origin + static_cast<double>(rest) + rounding<S>(std::abs(static_cast<double>(rest)) + magnitude_);
  }

  void keep_right(Index t, Index most) {
    const Column* from = t ? kept_ + t - 1 : nullptr;
    const S* x = before_ + t * width_;
    const auto bound = [&](Label y, double own) {
      if (!from) return own;
      if (stepping_ > kExact && !refines()) return round_up(from->top, static_cast<double>(x[y]) - own, own);
      return own + (refines() ? find_arrival(t, false, y, bounds_.enter[y], bounds_.incoming[y])
                              : find_arrival(*from, y, bounds_.enter[y]));
    };
    keep(t, most, x, origin_before_[t], leave(t), bound);
  }
  void keep_left(Index t, Index most) {
    const Column* from = t + 1 < T_ ? kept_ + t + 1 : nullptr;
    const S* x = after_ + t * width_;
    const auto bound = [&](Label y, double own) {
      if (!from) return own;
      if (stepping_ > kExact && !refines()) return round_up(from->top, static_cast<double>(x[y]), own);
      return own + (refines() ? find_arrival(t, true, y, bounds_.leave[y], bounds_.leave[y])
                              : find_arrival(*from, y, bounds_.leave[y]));
    };
    // Here the node belongs to what is bounded, so it is added to x where labels are left over.
    S* whole = nullptr;
    if (count_ > most) {
      whole = arena_.get<S>(width_);
      for (Index n = 0; n < count_; ++n)
        whole[found_[n].label] = x[found_[n].label] + lattice_.node(t)[found_[n].label];
    }
    keep(t, most, whole, origin_after_[t], enter(t), bound);
  }

  // The bound of label y is summed in double from few labels, so that rounding does not build up: from the rows that
  // step() took, or from the labels in order, until none of those left could be better. Otherwise it is what step()
  // found, rounded up.
  double find_arrival(const Column& from, Label y, double potential) const {
    double best = from.rest + potential;
    for (Index a = 0; a < stepping_; ++a) best = std::max(best, from.bound[a] + static_cast<double>(rows_[a][y]));
    return best;
  }
  double find_arrival(Index t, bool leftward, Label y, double potential, double most) const {
    const Column& from = kept_[leftward ? t + 1 : t - 1];
    double best = from.rest + potential;
    for (Index a = 0; a < stepping_ && from.bound[a] + most > best; ++a)
      best = std::max(
          best, from.bound[a] + (leftward ? transition(t, y, from.label[a]) : transition(t - 1, from.label[a], y)));
    return best;
  }
  double round_up(double top, double found, double own) const {
    return top + found + own + rounding<S>(std::abs(found) + 2 * std::abs(own) + magnitude_);
  }

  void make_room(Index count) {
    if (count <= room_) return;
    room_ = std::max({count, 2 * room_, Index{8}});
    alpha_ = arena_.get<S>(room_);
    rows_ = arena_.get<const S*>(room_);
    if constexpr (std::is_same_v<Tr, Sparse<S>>) buffers_ = arena_.get<S>(std::min(room_, kExact) * width_, kNever<S>);
  }

  const Trellis<Tr>& lattice_;
  const bool generous_;  // whether sweeps may keep more labels than they are told to
  Counters& counters_;
  Arena& arena_;
  Heed heed_;
  const Bounds<S>& bounds_ = lattice_.model->bounds();
  Index T_ = lattice_.length, L_ = lattice_.labels, width_ = padded(L_), chunks_ = chunk_count(L_);
  const bool moderate_ =
      lattice_.model->allows_moderate(T_);  // whether emissions that are moderate need no second look
  Maxima<S> maxima_{arena_.get<S>(chunks_ * kLanes), arena_.get<S>(chunks_)};  // of the row at hand
  S* promise_ = arena_.get<S>(T_ * chunks_);  // [T][chunks]: the maxima of the first sweep, less origin_promise_
  unsigned* marked_ = arena_.get<unsigned>(chunks_);  // groups to look into, as bits
  Found<S>* found_ = arena_.get<Found<S>>(L_ + 1);
  S* before_ = arena_.get<S>(T_ * width_);  // [T][width], less origin_before_
  S* after_ = nullptr;                      // [T][width], less origin_after_
  Column* kept_ = arena_.get<Column>(T_);   // by the last sweep
  double* origin_before_ = arena_.get<double>(T_);
  double* origin_after_ = arena_.get<double>(T_);
  double* origin_promise_ = arena_.get<double>(T_);
  // Whether few transitions are read. Where nearly all share one score, few labels are kept, and little would be saved.
  const bool coarse_ =
      std::is_same_v<Tr, Dense<S>> && L_ * L_ * Index{sizeof(S)} >= kCoarse && !lattice_.model->mostly_default();
  Index wanted_ = 0;      // groups that gather was asked to look into
  Index futile_ = 0;      // coarse steps of the first sweep that were taken again in full
  Index count_ = 0;       // labels found
  S below_ = 0;           // bound on what was not
  Index stepping_ = 0;    // labels stepped from,
  Index loaded_ = 0;      // and the rows that stand for them
  double magnitude_ = 0;  // largest magnitude among their scores
  // Vector operations, roughly: a part of what the dense sweep takes, and those done.
  Index budget_ = T_ * (L_ / kLanes) * (L_ / (L_ < 512 ? 5 : 10)), spent_ = 0;
  Index room_ = 0;  // what the next three hold
  S* alpha_ = nullptr;
  const S** rows_ = nullptr;
  S* buffers_ = nullptr;
};

}  // namespace certus
