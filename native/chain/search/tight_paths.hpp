// Paths that score as much as any path could.
//
// With the potentials of Bounds, transition(i, j) <= leave[i] + enter[j], no path scores more than
//   sum over t of max over y of  enter[y] (after the first position) + node(t, y) + leave[y] (before the last).
// Where scores are whole numbers from a small range, a great many paths score just that, and there is nothing to prune
// by: a few labels that reach the largest sum at each position then hold such paths. Elsewhere the search ends after a
// position or two.
#pragma once

#include <algorithm>
#include <type_traits>

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

  // The largest sum of a position; always added in double, or what single precision rounds away would lower the bound.
  double add_up(Index t) {
    const Index labels = trellis_.labels;
    const S *const in = enter(t), *const node = trellis_.node(t), *const out = leave(t);
    if constexpr (std::is_same_v<S, double>) {
      add_max(own_, in, node, labels);
      return add_max(sums_, own_, out, labels);
    }
    for (Index y = 0; y < labels; ++y)
      sums_[y] = static_cast<double>(in[y]) + static_cast<double>(node[y]) + static_cast<double>(out[y]);
    return *std::max_element(sums_, sums_ + labels);
  }

  // Adds the largest sum of a position to the bound, and makes a column of labels that reach it.
  void collect(Index t) {
    const S* const node = trellis_.node(t);
    const double most = add_up(t);
    bound_ += most;
    Column& column = columns_[t];
    column.reserve(kTight, arena_);
    for (Index y = 0; y < trellis_.labels && column.count < kTight && most != kNever<double>; ++y)
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
  double* own_ = arena_.get<double>(trellis_.labels);   // [L]: of the position at hand, with what enters,
  double* sums_ = arena_.get<double>(trellis_.labels);  // and with what leaves, too
  double bound_ = 0;
};

}  // namespace certus
