// The paths that differ from a given one at a single position: T (L - 1) real paths, all scored in one pass that reads
// a row and a column of transitions per position. The best of them tell which labels lists of paths are made of: many
// where a word is unclear, none but the path's own where it is clear.
#pragma once

#include "chain/search/columns.hpp"
#include "chain/search/gather_top_labels.hpp"
#include "chain/solver.hpp"

namespace certus {

template <class Tr>
class Substitutions {
 public:
  using S = typename Tr::Score;

  Substitutions(const Trellis<Tr>& trellis, Arena& arena) : trellis_(trellis), arena_(arena) {}

  // A column for each position, not connected yet: the labels of `path`, and those of its best substitutions, `count`
  // or more where there are so many, but no more than `most` per position.
  Column* collect_best(const Index* path, Index count, Index most) {
    for (Index t = 0; t < T_; ++t, heed_(4 * L_)) score(path, t);
    const S least = find_least(count);
    Column* columns = arena_.get<Column>(T_);
    for (Index t = 0; t < T_; ++t) {
      columns[t] = Column{};
      fill_column(columns[t], path, t, least, most);
    }
    return columns;
  }

 private:
  // gain_[t][y] + follow(t)[y] becomes what the path gains by taking y at position t.
  void score(const Index* path, Index t) {
    const S* const reach = t ? find_reach(t, static_cast<Label>(path[t - 1])) : nothing_;
    const S* const follow = find_follow(path, t);
    const Index own = path[t];
    const S now = reach[own] + trellis_.node(t)[own] + follow[own];
    bool unused;
    step({gain_ + t * width_, trellis_.node(t), reach, -now, follow, nullptr, nullptr, 0}, find_maxima(t), L_, &unused);
  }

  // The transitions from a label at position t - 1 to all; those of one position alone are not padded.
  const S* find_reach(Index t, Label from) const {
    const S* row = trellis_.transitions.row(t - 1, from, row_);
    if constexpr (std::is_same_v<Tr, Dense<S>>)
      if (trellis_.transitions.step) return std::copy_n(row, L_, row_), row_;
    return row;
  }
  // The transitions from all labels at position t to the path's next one.
  const S* find_follow(const Index* path, Index t) const {
    return t + 1 < T_ ? enter_label(trellis_, t, static_cast<Label>(path[t + 1]), column_) : nothing_;
  }
  Maxima<S> find_maxima(Index t) const { return {groups_ + t * chunks_ * kLanes, maxima_ + t * chunks_}; }

  // What at least `count` substitutions gain: the labels of a group count as one, and the path's own ones do not count.
  S find_least(Index count) {
    const Arena::Scope scope(arena_);
    S* sorted = arena_.get<S>(T_ * chunks_ * kLanes);
    const Index chunks = T_ * chunks_, wanted = std::min(count + T_, chunks * kLanes);
    S least = kNever<S>;  // by the maxima of chunks, so that few groups are looked at
    if (wanted < chunks) {
      std::copy_n(maxima_, chunks, sorted);
      least = find_largest(sorted, chunks, wanted);
    }
    Index groups = 0;
    for (Index c = 0; c < chunks; ++c) {
      if (maxima_[c] < least) continue;
      for (const S *group = groups_ + c * kLanes, *end = group + kLanes; group < end; ++group) {
        sorted[groups] = *group;
        groups += *group >= least;
      }
    }
    return std::max(find_largest(sorted, groups, wanted), std::numeric_limits<S>::lowest());
  }
  // The n-th largest of some numbers, which are put in another order.
  static S find_largest(S* x, Index count, Index n) {
    std::nth_element(x, x + n - 1, x + count, std::greater<>());
    return x[n - 1];
  }

  void fill_column(Column& column, const Index* path, Index t, S least, Index most) {
    S unused;
    mark(find_maxima(t), chunks_, least, marked_, &unused);
    Index count = collect(gain_ + t * width_, find_follow(path, t), L_, marked_, least, found_, &unused);
    if (count > most) std::nth_element(found_, found_ + most, found_ + count), count = most;
    column.reserve(count + 1, arena_);
    const auto add = [&](Label y) {
      column.label[column.count] = y;
      column.own[column.count++] = static_cast<double>(trellis_.node(t)[y]);
    };
    add(static_cast<Label>(path[t]));
    for (Index n = 0; n < count; ++n)
      if (found_[n].label != path[t]) add(found_[n].label);
  }

  const Trellis<Tr>& trellis_;
  Arena& arena_;
  Heed heed_;
  Index T_ = trellis_.length, L_ = trellis_.labels, width_ = padded(L_), chunks_ = chunk_count(L_);
  const S* nothing_ = trellis_.model->bounds().nothing.data();
  S* row_ = arena_.get<S>(width_, kNever<S>);     // a row of transitions that are listed, written out,
  S* column_ = arena_.get<S>(width_, kNever<S>);  // and a column
  S* gain_ = arena_.get<S>(T_ * width_);
  S* groups_ = arena_.get<S>(T_ * chunks_ * kLanes);
  S* maxima_ = arena_.get<S>(T_ * chunks_);
  unsigned* marked_ = arena_.get<unsigned>(chunks_);
  Found<S>* found_ = arena_.get<Found<S>>(L_);
};

}  // namespace certus
