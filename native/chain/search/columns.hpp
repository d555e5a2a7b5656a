// A small trellis: a few labels at each position.
#pragma once

#include <algorithm>

#include "chain/search/next_best.hpp"
#include "chain/trellis.hpp"

namespace certus {

struct Column {
  Index count = 0;
  Label* label = nullptr;    // [count]
  double* own = nullptr;     // [count]: node scores
  double* bound = nullptr;   // [count]: no way here, from where the sweep came, scores more
  double rest = 0;           // bound for the labels not in the column, their best transition included
  double top = 0;            // largest bound
  double* active = nullptr;  // [count]: the best way here through the columns, once connected
  Index* via = nullptr;      // [count]: where in the column before it comes from
  double* link = nullptr;    // [count][count of the column before]: transitions into a label

  void reserve(Index room, Arena& arena) {
    label = arena.get<Label>(room);
    own = arena.get<double>(2 * room);
    bound = own + room;
    count = 0;
  }

  // Orders the labels by bound, largest first.
  void sort(Arena& arena) {
    struct Entry {
      double bound, own;
      Label label;
    };
    const Arena::Scope scope(arena);
    Entry* entries = arena.get<Entry>(count);
    for (Index n = 0; n < count; ++n) entries[n] = {bound[n], own[n], label[n]};
    std::sort(entries, entries + count, [](const Entry& a, const Entry& b) {
      return a.bound != b.bound ? a.bound > b.bound : a.label < b.label;
    });
    for (Index n = 0; n < count; ++n) bound[n] = entries[n].bound, own[n] = entries[n].own, label[n] = entries[n].label;
  }

  // Whether some labels are all here.
  bool contains(const Label* some, Index n) const {
    return std::all_of(some, some + n, [&](Label y) { return std::find(label, label + count, y) != label + count; });
  }
};

// The transitions from all labels at position t to label y at t + 1: [L], padded. `buffer` serves where they do not lie
// side by side; it is padded with -inf.
template <class S>
const S* enter_label(const Trellis<Dense<S>>& trellis, Index t, Label y, S* buffer) {
  if (!trellis.transitions.step) return trellis.model->across() + y * padded(trellis.labels);
  for (Index i = 0; i < trellis.labels; ++i) buffer[i] = trellis.at(t, static_cast<Label>(i), y);
  return buffer;
}
template <class S>
const S* enter_label(const Trellis<Sparse<S>>& trellis, Index, Label y, S* buffer) {
  return trellis.transitions.column(y, buffer);
}

inline Index first_column(Column& c, Arena& arena) {
  c.active = arena.get<double>(c.count);
  c.via = nullptr;
  std::copy_n(c.own, c.count, c.active);
  return 0;
}

// Scores the transitions into the column of position t; returns how many there are.
template <class Tr>
Index connect_columns(const Column& from, Column& to, const Trellis<Tr>& trellis, Index t, Arena& arena) {
  to.active = arena.get<double>(to.count, kNever<double>);
  to.via = arena.get<Index>(to.count, Index{0});
  to.link = arena.get<double>(from.count * to.count);
  for (Index a = 0; a < from.count; ++a)
    for (Index b = 0; b < to.count; ++b) {
      const double x = static_cast<double>(trellis.at(t - 1, from.label[a], to.label[b]));
      to.link[b * from.count + a] = x;
      if (from.active[a] + x > to.active[b]) to.active[b] = from.active[a] + x, to.via[b] = a;
    }
  for (Index b = 0; b < to.count; ++b) to.active[b] += to.own[b];
  return from.count * to.count;
}

// Connects all columns; returns how many transitions that took.
template <class Tr>
Index connect_all(Column* columns, const Trellis<Tr>& trellis, Arena& arena) {
  Index edges = 0;
  Heed heed;
  for (Index t = 0; t < trellis.length; ++t, heed(trellis.labels))
    edges += t ? connect_columns(columns[t - 1], columns[t], trellis, t, arena) : first_column(columns[t], arena);
  return edges;
}

// Connected columns, as NextBest wants to see them.
class Columns {
 public:
  Columns(const Column* columns, Index count) : column(columns), positions(count) {}

  const Column* column;
  Index positions;

  // The best path, if it scores more than `known`.
  bool trace(double known, Index* labels) const {
    const Column& last = column[positions - 1];
    if (last.count == 0) return false;
    Index b = std::max_element(last.active, last.active + last.count) - last.active;
    if (!(last.active[b] > known)) return false;
    for (Index t = positions - 1; t >= 0; --t) {
      labels[t] = column[t].label[b];
      if (t) b = column[t].via[b];
    }
    return true;
  }

  Index length() const { return positions; }
  Index width(Index t) const { return column[t].count; }
  double offset(Index) const { return 0; }
  double node(Index t, Index y) const { return column[t].own[y]; }
  double link(Index t, Index i, Index y) const { return into(t, y)[i]; }
  Index label(Index t, Index y) const { return column[t].label[y]; }
  Index next(Index t, Index y, double value, Index index, double* found) const {
    if (t < 0) return -1;
    return next_best_sum(column[t].active, into(t, y), stride(y), column[t].count, value, index, found);
  }
  TwoBest two(Index t, Index y) const {
    return two_best_sums(column[t].active, into(t, y), stride(y), column[t].count);
  }

  // The transitions that connecting takes.
  Index edges() const {
    Index sum = 0;
    for (Index t = 1; t < positions; ++t) sum += column[t - 1].count * column[t].count;
    return sum;
  }

  // Whether every label of a column is in the same column of the other.
  bool within(const Column* other) const {
    for (Index t = 0; t < positions; ++t)
      if (!other[t].contains(column[t].label, column[t].count)) return false;
    return true;
  }

 private:
  // The transitions into label y at t + 1 from the labels at t, and how far they are apart; -1 is the end, which every
  // label may go to for nothing.
  const double* into(Index t, Index y) const {
    static constexpr double kNothing = 0;
    return y < 0 ? &kNothing : column[t + 1].link + y * column[t].count;
  }
  static Index stride(Index y) { return y < 0 ? 0 : 1; }
};

}  // namespace certus
