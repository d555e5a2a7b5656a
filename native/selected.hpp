// The transitions between one label and a chosen few, for solvers that keep only some labels of a position.
#pragma once

#include "lattice.hpp"

namespace certus {

template <class Tr>
class Selected;

template <class S>
class Selected<Dense<S>> {
 public:
  Selected(const Lattice<Dense<S>>& lattice, Arena&)
      : transitions_(lattice.transitions),
        across_(lattice.transitions.step ? nullptr : lattice.model->transposed()),
        width_(padded(lattice.labels)) {}

  // out[n] = the score of going from label i at position t to to[n] at t + 1.
  void leaving(Index t, Label i, const Label* to, Index count, S* out) const {
    gather(out, transitions_.row(t, i, nullptr), to, count);
  }
  // out[n] = the score of going from from[n] at position t to label j at t + 1.
  void entering(Index t, const Label* from, Index count, Label j, S* out) const {
    if (across_) return gather(out, across_ + j * width_, from, count);
    for (Index n = 0; n < count; ++n) out[n] = transitions_.at(t, from[n], j);
  }

 private:
  Dense<S> transitions_;
  const S* across_;
  Index width_;
};

template <class S>
class Selected<Sparse<S>> {
 public:
  Selected(const Lattice<Sparse<S>>& lattice, Arena& arena)
      : transitions_(lattice.transitions), spread_(arena.get<S>(lattice.labels, transitions_.fallback)) {}

  void leaving(Index, Label i, const Label* to, Index count, S* out) const {
    const Sparse<S>& tr = transitions_;
    pick(tr.row_begin[i], tr.row_begin[i + 1], tr.row_to, tr.row_score, to, count, out);
  }
  void entering(Index, const Label* from, Index count, Label j, S* out) const {
    const Sparse<S>& tr = transitions_;
    pick(tr.column_begin[j], tr.column_begin[j + 1], tr.column_from, tr.column_score, from, count, out);
  }

 private:
  // A short list is spread over all labels, read and taken back; a long one is searched for each label.
  void pick(Index begin, Index end, const Label* listed, const S* score, const Label* wanted, Index count,
            S* out) const {
    if (begin == end) {
      std::fill(out, out + count, transitions_.fallback);
    } else if (end - begin <= kSearch * count) {
      for (Index n = begin; n < end; ++n) spread_[listed[n]] = score[n];
      gather(out, spread_, wanted, count);
      for (Index n = begin; n < end; ++n) spread_[listed[n]] = transitions_.fallback;
    } else {
      for (Index n = 0; n < count; ++n) {
        const Label* found = std::lower_bound(listed + begin, listed + end, wanted[n]);
        out[n] = found != listed + end && *found == wanted[n] ? score[found - listed] : transitions_.fallback;
      }
    }
  }

  static constexpr Index kSearch = 4;  // listed entries that are spread in the time of one search
  Sparse<S> transitions_;
  S* spread_;  // [labels], the fallback everywhere between calls
};

}  // namespace certus
