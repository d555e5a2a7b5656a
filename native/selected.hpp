// The transitions between one label and a chosen few, for solvers that keep only some labels of a position.
#pragma once

#include "degenerate.hpp"
#include "lattice.hpp"

namespace certus {

// Some labels of one position, by increasing rank.
struct Selection {
  const Label* rank;   // [count]
  const Label* label;  // [count]
  Index count;

  Selection from(Index i) const { return {rank + i, label + i, count - i}; }
};

template <class Tr>
class Selected;

template <class S>
class Selected<Dense<S>> {
 public:
  Selected(const Lattice<Dense<S>>& lattice, const DegenerateTables<S>& tables, Arena&)
      : transitions_(lattice.transitions),
        ranked_(tables.ranked.empty() ? nullptr : tables.ranked.data()),
        stride_(tables.stride),
        across_(lattice.transitions.step ? nullptr : lattice.model->transposed()),
        width_(padded(lattice.labels)) {}

  // The scores of going from the first of `from` at position t to each of `to` at t + 1. Labels of successive ranks
  // lie side by side in the ranked matrix and need not be copied.
  const S* leaving(Index t, const Selection& from, const Selection& to, S* buffer) const {
    if (!ranked_) {
      gather(buffer, transitions_.row(t, from.label[0], nullptr), to.label, to.count);
      return buffer;
    }
    const S* row = ranked_ + from.rank[0] * stride_;
    if (to.count > 0 && to.rank[to.count - 1] - to.rank[0] == to.count - 1) return row + to.rank[0];
    gather(buffer, row, to.rank, to.count);
    return buffer;
  }
  // The scores of going from each of `from` at position t to the first of `to` at t + 1.
  const S* entering(Index t, const Selection& from, const Selection& to, S* buffer) const {
    if (across_) gather(buffer, across_ + to.label[0] * width_, from.label, from.count);
    else
      for (Index n = 0; n < from.count; ++n) buffer[n] = transitions_.at(t, from.label[n], to.label[0]);
    return buffer;
  }

 private:
  Dense<S> transitions_;
  const S* ranked_;
  Index stride_;
  const S* across_;
  Index width_;
};

template <class S>
class Selected<Sparse<S>> {
 public:
  Selected(const Lattice<Sparse<S>>& lattice, const DegenerateTables<S>&, Arena& arena)
      : transitions_(lattice.transitions), spread_(arena.get<S>(lattice.labels, transitions_.fallback)) {}

  const S* leaving(Index, const Selection& from, const Selection& to, S* buffer) const {
    const Sparse<S>& tr = transitions_;
    const Index* begin = tr.row_begin + from.label[0];
    return pick(begin[0], begin[1], tr.row_to, tr.row_score, to, buffer);
  }
  const S* entering(Index, const Selection& from, const Selection& to, S* buffer) const {
    const Sparse<S>& tr = transitions_;
    const Index* begin = tr.column_begin + to.label[0];
    return pick(begin[0], begin[1], tr.column_from, tr.column_score, from, buffer);
  }

 private:
  // A short list is spread over all labels, read and taken back; a long one is searched for each label.
  const S* pick(Index begin, Index end, const Label* listed, const S* score, const Selection& wanted, S* out) const {
    if (begin == end) {
      std::fill(out, out + wanted.count, transitions_.fallback);
    } else if (end - begin <= kSearch * wanted.count) {
      for (Index n = begin; n < end; ++n) spread_[listed[n]] = score[n];
      gather(out, spread_, wanted.label, wanted.count);
      for (Index n = begin; n < end; ++n) spread_[listed[n]] = transitions_.fallback;
    } else {
      for (Index n = 0; n < wanted.count; ++n) {
        const Label* found = std::lower_bound(listed + begin, listed + end, wanted.label[n]);
        out[n] = found != listed + end && *found == wanted.label[n] ? score[found - listed] : transitions_.fallback;
      }
    }
    return out;
  }

  static constexpr Index kSearch = 4;  // listed entries that are spread in the time of one search
  Sparse<S> transitions_;
  S* spread_;  // [labels], the fallback everywhere between calls
};

}  // namespace certus
