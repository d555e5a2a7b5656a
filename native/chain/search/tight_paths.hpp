// Paths that score as much as any path could.
//
// With the potentials of Bounds, transition(i, j) <= leave[i] + enter[j], no path scores more than
//   sum over t of max over y of  enter[y] (after the first position) + node(t, y) + leave[y] (before the last).
// Where scores are whole numbers from a small range, a great many paths score just that, and there is nothing to prune
// by: a few labels that reach the largest sum at each position then hold such paths. Elsewhere the search ends after a
// position or two.
#pragma once

#include <algorithm>

#include "chain/search/columns.hpp"
#include "chain/solver.hpp"

namespace certus {

inline constexpr Index kTight = 12;  // labels per position

template <class Tr>
class Tight {
 public:
  using S = typename Tr::Score;

  Tight(const Trellis<Tr>& trellis, Arena& arena)
      : trellis_(trellis), arena_(arena), columns_(arena.get<Column>(trellis.length)) {}

  // Whether there is a path that meets the bound; `columns` then hold some, and `bound` is what they score.
  bool find() {
    for (Index t = 0; t < trellis_.length; ++t) {
      collect(t);
      if (t) connect_columns(columns_[t - 1], columns_[t], trellis_, t, arena_);
      else first_column(columns_[t], arena_);
      if (!is_met(t)) return false;
    }
    return true;
  }
  Columns columns() const { return {columns_, trellis_.length}; }
  double bound() const { return bound_; }

 private:
  const S* enter(Index t) const { return (t ? potentials_.enter_rounded : potentials_.nothing).data(); }
  const S* leave(Index t) const {
    return (t + 1 < trellis_.length ? potentials_.leave_rounded : potentials_.nothing).data();
  }

  // Adds the largest sum of a position to the bound, and makes a column of labels that reach it.
  void collect(Index t) {
    const S* const node = trellis_.node(t);
    add_max(own_, enter(t), node, trellis_.labels);
    const S most = add_max(sums_, own_, leave(t), trellis_.labels);
    bound_ += static_cast<double>(most);
    Column& column = columns_[t];
    column.reserve(kTight, arena_);
    for (Index y = 0; y < trellis_.labels && column.count < kTight && most != kNever<S>; ++y)
      if (sums_[y] == most) {
        column.label[column.count] = static_cast<Label>(y);
        column.own[column.count++] = static_cast<double>(node[y]);
      }
  }

  // Whether a way to the column scores as much as any could, with what leaves it.
  bool is_met(Index t) const {
    const Column& column = columns_[t];
    for (Index n = 0; n < column.count; ++n)
      if (column.active[n] + static_cast<double>(leave(t)[column.label[n]]) >= bound_) return true;
    return false;
  }

  const Trellis<Tr>& trellis_;
  Arena& arena_;
  const Bounds<S>& potentials_ = trellis_.model->bounds();
  Column* columns_;
  S* own_ = arena_.get<S>(trellis_.labels);   // [L]: of the position at hand, with what enters,
  S* sums_ = arena_.get<S>(trellis_.labels);  // and with what leaves, too
  double bound_ = 0;
};

}  // namespace certus
