// The search of `auto`: a sweep to the right that keeps a few labels at each position and bounds all others by
// one number, and a sweep to the left that finds the labels which could still matter.
//
// To the right. At position t some labels are kept. For every label y,
//   reach(t, y) = node(t, y) + max( rest(t-1) + enter[y],  max over kept i of bound(i) + transition(i, y) )
// is never below the best way to y, where bound(i) = reach(t-1, i), and
//   rest(t) = max over labels not kept of reach(t, y) + leave[y]
// stands for all of them with the best transition they could possibly take. Labels are kept as long as they could
// overtake the best one that way; at a position where many can, many are. Traced back through the kept labels,
// the last column gives a real path, and its bounds hold for all paths.
//
// To the left, only if these two differ. Given a path that scores `known`, a label matters at position t only if
//   reach(t, y) + max over labels c that matter at t+1 of transition(y, c) + node(c) + after(c)  >  known.
// Every path that scores more than `known` runs through labels that matter, and there are so few of them that
// solving among them is trivial.
#pragma once

#include <cmath>

#include "next_best.hpp"
#include "solve.hpp"

namespace certus {

struct Column {
  Index count = 0;
  Label* label = nullptr;    // [count]
  double* own = nullptr;     // [count]: node scores
  double* bound = nullptr;   // [count]: no way here scores more
  double* active = nullptr;  // [count]: the best way here through these columns, once they are connected
  double* after = nullptr;   // [count]: no way on scores more
  Index* via = nullptr;      // [count]: where in the column before the active way comes from
  double* link = nullptr;    // [count of the column before][count]: transitions, once connected
  double rest = 0;           // bound for the labels not kept, their best transition included
  double top = 0;            // largest bound of a kept label
};

// How much the sweep to the right keeps: labels whose reach + leave exceeds the largest reach by `margin`, and at
// the end of the sentence those within `spread` of it; no more than `total` over all positions.
struct Width {
  double margin, spread;
  Index total;
};

// Columns of labels as NextBest wants to see them.
struct ColumnPaths {
  const Column* column;
  Index positions;

  Index length() const { return positions; }
  double offset(Index) const { return 0; }
  double node(Index t, Index y) const { return column[t].own[y]; }
  double link(Index t, Index i, Index y) const { return column[t + 1].link[i * column[t + 1].count + y]; }
  Index label(Index t, Index y) const { return column[t].label[y]; }
  Index next(Index t, Index y, double value, Index index, double* found) const {
    const Column& c = column[t];
    const double* link = y < 0 ? nullptr : column[t + 1].link + y;
    const Index stride = y < 0 ? 0 : column[t + 1].count;
    double best = kNever<double>;
    Index where = -1;
    for (Index a = 0; a < c.count; ++a) {
      const double x = link ? c.active[a] + link[a * stride] : c.active[a];
      if ((x < value || (x == value && a > index)) && x > best) best = x, where = a;
    }
    *found = best;
    return where;
  }
};

template <class Tr>
class Pruned {
 public:
  using S = typename Tr::Score;

  Pruned(const Lattice<Tr>& lattice, Counters& counters, Arena& arena)
      : lattice_(lattice),
        bounds_(lattice.model->bounds()),
        counters_(counters),
        arena_(arena),
        T_(lattice.length),
        L_(lattice.labels),
        width_(padded(L_)),
        groups_(group_count(L_)),
        group_(arena.get<S>(groups_)),
        reach_(arena.get<S>(T_ * width_)),
        excess_(arena.get<S>(width_)),
        hit_(arena.get<Index>(groups_)),
        kept_(arena.get<Column>(T_)),
        matters_(arena.get<Column>(T_)) {}

  enum class Sweep { done, lost, dead, invalid };

  // To the right. `dead`: there is no path; `lost`: too many labels would have to be kept.
  Sweep right(const Width& width) {
    Index left = width.total;
    ++counters_.iterations;
    for (Index t = 0; t < T_; ++t) {
      const Column* before = t ? kept_ + t - 1 : nullptr;
      const Index count = before ? before->count : 0;
      make_room(count);
      double magnitude = 0;
      for (Index i = 0; i < count; ++i) {
        alpha_[i] = static_cast<S>(before->bound[i] - before->top);
        if (alpha_[i] != kNever<S>) magnitude = std::max(magnitude, -static_cast<double>(alpha_[i]));
        rows_[i] = lattice_.transitions.row(t - 1, before->label[i], buffers_ + i * width_);
      }
      bool suspicious;
      const S most = step(reach_ + t * width_, group_, lattice_.node(t),
                          before ? bounds_.enter_rounded.data() : bounds_.nothing.data(),
                          before ? static_cast<S>(before->rest - before->top) : S{0}, leave(t), rows_, alpha_, count,
                          L_, &suspicious);
      if (suspicious && first_invalid(lattice_.data + t * lattice_.stride, L_) >= 0) return Sweep::invalid;
      if (most == kNever<S>) return Sweep::dead;
      counters_.edges += count * L_;
      keep(t, most, magnitude, width);
      left -= kept_[t].count;
      if (left < 0) return Sweep::lost;
    }
    return Sweep::done;
  }

  // A bound on all paths.
  double bound() const { return std::max(kept_[T_ - 1].rest, kept_[T_ - 1].top); }

  // A real path through kept labels, and its score; -inf when tracing back meets a dead end.
  double trace_known(Index* labels) const {
    const Column* c = kept_ + T_ - 1;
    Index b = std::max_element(c->bound, c->bound + c->count) - c->bound;
    double score = c->own[b];
    labels[T_ - 1] = c->label[b];
    for (Index t = T_ - 1; t > 0; --t) {
      const Column& before = kept_[t - 1];
      double best = kNever<double>, taken = kNever<double>;
      Index from = 0;
      for (Index a = 0; a < before.count; ++a) {
        const double x = transition(t - 1, before.label[a], static_cast<Label>(labels[t]));
        if (before.bound[a] + x > best) best = before.bound[a] + x, taken = x, from = a;
      }
      score += taken + before.own[from];
      labels[t - 1] = before.label[from];
    }
    return score;
  }

  // To the left: the labels through which a path may score more than `known`. Gives up, and says so by
  // returning false, when they are more than `most` at a position or `total` over all of them.
  bool left(double known, Index most, Index total) {
    for (Index t = T_ - 1; t >= 0; --t) {
      if (!find(t, known, std::min(most, total))) return false;
      const Index count = matters_[t].count;
      if (count == 0) break;  // nothing can improve on what is known
      total -= count;
      counters_.activated += count;
      counters_.edges += count * L_;
    }
    return true;
  }

  // After left(), for k = 1: whether a path among the labels that matter beats `known`; then it is written.
  bool trace_better(double known, Index* labels) {
    for (Index t = 0; t < T_; ++t)
      if (matters_[t].count == 0) return false;
    connect(matters_);
    const Column& last = matters_[T_ - 1];
    Index b = std::max_element(last.active, last.active + last.count) - last.active;
    if (!(last.active[b] > known)) return false;
    for (Index t = T_ - 1; t >= 0; b = matters_[t--].via[b]) labels[t] = matters_[t].label[b];
    return true;
  }

  // The best few kept labels of each position, to find some good paths among.
  ColumnPaths kept_paths(Index few) {
    for (Index t = 0; t < T_; ++t) {
      const Column& kept = kept_[t];
      Column& c = matters_[t];
      reserve(c, std::min(few, kept.count));
      Index* order = arena_.get<Index>(kept.count);
      for (Index a = 0; a < kept.count; ++a) order[a] = a;
      const auto better = [&](Index a, Index b) {
        return kept.bound[a] != kept.bound[b] ? kept.bound[a] > kept.bound[b] : kept.label[a] < kept.label[b];
      };
      if (kept.count > few) std::nth_element(order, order + few, order + kept.count, better);
      for (c.count = 0; c.count < std::min(few, kept.count); ++c.count) {
        c.label[c.count] = kept.label[order[c.count]];
        c.own[c.count] = kept.own[order[c.count]];
      }
    }
    return connect(matters_);
  }
  ColumnPaths paths_that_matter() { return connect(matters_); }
  // The transitions that connecting the labels that matter takes.
  Index edges() const {
    Index sum = 0;
    for (Index t = 1; t < T_; ++t) sum += matters_[t - 1].count * matters_[t].count;
    return sum;
  }

 private:
  static constexpr Index kExact = 8;  // labels up to which bounds are summed again in double

  const S* leave(Index t) const { return t + 1 < T_ ? bounds_.leave_rounded.data() : bounds_.nothing.data(); }
  double transition(Index t, Label i, Label j) const { return static_cast<double>(lattice_.at(t, i, j)); }

  // Labels of group g.
  template <class Use>
  void each(Index g, Use use) const {
    const Index base = g / kLanes * kLanes * kGroup + g % kLanes;
    const Index end = std::min(L_, base + kLanes * kGroup);
    for (Index y = base; y < end; y += kLanes) use(static_cast<Label>(y));
  }

  void reserve(Column& c, Index count) {
    c.label = arena_.get<Label>(count);
    c.via = arena_.get<Index>(count);
    double* numbers = arena_.get<double>(4 * count);
    c.own = numbers;
    c.bound = numbers + count;
    c.active = numbers + 2 * count;
    c.after = numbers + 3 * count;
    c.link = nullptr;
    c.count = 0;
  }

  // Keeps label y of position t. From few labels its bound is summed in double, so that rounding does not build up.
  void take(Index t, Label y, S reach, S most, double magnitude) {
    Column& c = kept_[t];
    const Index n = c.count++;
    const double own = static_cast<double>(lattice_.node(t)[y]);
    c.label[n] = y;
    c.own[n] = own;
    if (t == 0) {
      c.bound[n] = own;
    } else {
      const Column& before = kept_[t - 1];
      if (before.count <= kExact) {
        double bound = before.rest + bounds_.enter[y];
        for (Index a = 0; a < before.count; ++a)
          bound = std::max(bound, before.bound[a] + static_cast<double>(rows_[a][y]));
        c.bound[n] = bound + own;
      } else {
        c.bound[n] = before.top + rounded_up(reach, most, magnitude);
      }
    }
    c.top = std::max(c.top, c.bound[n]);
  }

  // Keeps the promising labels of position t, whose reach is known, and bounds the others.
  void keep(Index t, S most, double magnitude, const Width& width) {
    const S* reach = reach_ + t * width_;
    const S* leave = this->leave(t);
    S promise = kNever<S>;
    for (Index g = 0; g < groups_; ++g) promise = group_[g] > promise ? group_[g] : promise;
    S threshold = most + static_cast<S>(t + 1 < T_ ? width.margin : -width.spread);
    threshold = threshold < promise ? threshold : promise;
    const Index hits = above(group_, threshold);
    Column& c = kept_[t];
    reserve(c, hits * kGroup + 1);
    c.top = kNever<double>;
    S rest = kNever<S>, highest = kNever<S>;
    for (Index g = 0; g < groups_; ++g) rest = group_[g] < threshold && group_[g] > rest ? group_[g] : rest;
    for (Index h = 0; h < hits; ++h)
      each(hit_[h], [&](Label y) {
        const S x = reach[y] + leave[y];
        if (x >= threshold) {
          take(t, y, reach[y], most, magnitude);
          highest = reach[y] > highest ? reach[y] : highest;
        } else {
          rest = x > rest ? x : rest;
        }
      });
    if (highest < most) {
      const auto y = static_cast<Label>(std::find(reach, reach + L_, most) - reach);
      take(t, y, most, most, magnitude);
    }
    const double origin = t ? kept_[t - 1].top : 0;
    c.rest = rest == kNever<S> ? kNever<double> : origin + rounded_up(rest, most, magnitude);
    counters_.activated += c.count;
  }

  Index above(const S* group, S threshold) {
    Index hits = 0;
    for (Index g = 0; g < groups_; ++g) {
      hit_[hits] = g;
      hits += group[g] >= threshold;
    }
    return hits;
  }
  // A number that a sum of a few terms in S stays below in truth. In double, rounding is left as it is.
  double rounded_up(S x, S most, double magnitude) const {
    const double value = static_cast<double>(x);
    if constexpr (std::is_same_v<S, double>) return value;
    const double scale = std::abs(value) + std::abs(static_cast<double>(most)) + bounds_.largest + magnitude;
    return value + 2 * static_cast<double>(std::numeric_limits<S>::epsilon()) * scale;
  }

  // Fills matters_[t]. False when there are more than `most`.
  bool find(Index t, double known, Index most) {
    const double origin = t ? kept_[t - 1].top : 0;
    const Column* next = t + 1 < T_ ? matters_ + t + 1 : nullptr;
    const Index count = next ? next->count : 0;
    make_room(count);
    double magnitude = bounds_.largest;
    for (Index c = 0; c < count; ++c) {
      const double ahead = next->own[c] + next->after[c] + origin - known;
      magnitude = std::max(magnitude, std::abs(ahead));
      alpha_[c] = static_cast<S>(ahead);
      rows_[c] = arrivals(t, next->label[c], buffers_ + c * width_);
    }
    // What reach plus the best way on exceeds `known` by.
    bool unused;
    const S* reach = reach_ + t * width_;
    const S highest = step(excess_, group_, reach, bounds_.nothing.data(),
                           next ? kNever<S> : static_cast<S>(origin - known), bounds_.nothing.data(), rows_, alpha_,
                           count, L_, &unused);
    Column& c = matters_[t];
    c.count = 0;
    // Rounding must not lose a label, nor a path that is known already.
    const double doubt = std::max(1e-9 * std::max(1.0, std::abs(known)), rounded_up(0, highest, 2 * magnitude));
    const S least = static_cast<S>(-doubt);
    if (highest < least) return true;
    const Index hits = above(group_, least);
    if (hits > most) return false;
    reserve(c, hits * kGroup);
    for (Index h = 0; h < hits; ++h)
      each(hit_[h], [&](Label y) {
        if (!(excess_[y] >= least)) return;
        const Index n = c.count++;
        c.label[n] = y;
        c.own[n] = static_cast<double>(lattice_.node(t)[y]);
        c.after[n] = static_cast<double>(excess_[y]) - static_cast<double>(reach[y]) + known - origin + doubt;
      });
    return c.count <= most;
  }

  // The transitions into label y at position t + 1: [L], padded.
  const S* arrivals(Index, Label y, S* buffer) const {
    if constexpr (std::is_same_v<Tr, Sparse<S>>) return lattice_.transitions.column(y, buffer);
    else return lattice_.model->across() + y * width_;
  }

  // Room to step from `count` labels at a time.
  void make_room(Index count) {
    if (count <= room_) return;
    room_ = count = std::max(count, 2 * room_);
    alpha_ = arena_.get<S>(count);
    rows_ = arena_.get<const S*>(count);
    if constexpr (std::is_same_v<Tr, Sparse<S>>) buffers_ = arena_.get<S>(count * width_, kNever<S>);
  }

  ColumnPaths connect(Column* columns) {
    for (Index t = 0; t < T_; ++t) {
      Column& c = columns[t];
      if (t == 0) {
        std::copy_n(c.own, c.count, c.active);
        continue;
      }
      const Column& before = columns[t - 1];
      c.link = arena_.get<double>(before.count * c.count);
      std::fill(c.active, c.active + c.count, kNever<double>);
      for (Index a = 0; a < before.count; ++a)
        for (Index b = 0; b < c.count; ++b) {
          const double x = c.link[a * c.count + b] = transition(t - 1, before.label[a], c.label[b]);
          if (before.active[a] + x > c.active[b]) c.active[b] = before.active[a] + x, c.via[b] = a;
        }
      for (Index b = 0; b < c.count; ++b) c.active[b] += c.own[b];
      counters_.edges += before.count * c.count;
    }
    return {columns, T_};
  }

  const Lattice<Tr>& lattice_;
  const Bounds<S>& bounds_;
  Counters& counters_;
  Arena& arena_;
  Index T_, L_, width_, groups_;
  S* group_;             // [groups]: maxima of the row at hand
  S* reach_;             // [T][width]: less the top of the column before
  S* excess_;            // [width]
  Index* hit_;           // [groups]: scratch
  Column* kept_;         // [T]
  Column* matters_;      // [T]
  Index room_ = 0;       // what the next three hold
  S* alpha_ = nullptr;
  const S** rows_ = nullptr;
  S* buffers_ = nullptr;
};

}  // namespace certus
