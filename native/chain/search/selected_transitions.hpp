// The transitions between chosen labels, for solvers that keep only some labels of a position. Dense here; for
// listed ones see selected_sparse_transitions.hpp.
#pragma once

#include "chain/search/degenerate_labels.hpp"
#include "chain/trellis.hpp"

namespace certus {

// Some labels of one position.
struct Selection {
  const Label* rank;   // [count]
  const Label* label;  // [count]
  Index count;
  bool adjoining;  // whether ranks follow each other without a gap

  Selection from(Index i) const { return {rank + i, label + i, count - i, adjoining}; }
};

template <class Tr>
class Selected;

template <class S>
class Selected<Dense<S>> {
 public:
  Selected(const Trellis<Dense<S>>& trellis, const DegenerateTables<S>& tables, Arena&)
      : transitions_(trellis.transitions),
        tables_(tables),
        across_(transitions_.step ? nullptr : trellis.model->transposed()) {}

  // The scores of going from the first of `from` at position t to each of `to` at t + 1. Labels of successive
  // ranks lie side by side in the ranked matrix and need not be copied.
  const S* leaving(Index t, const Selection& from, const Selection& to, S* buffer) const {
    if (tables_.ranked.empty()) {
      gather(buffer, transitions_.row(t, from.label[0], nullptr), to.label, to.count);
      return buffer;
    }
    const S* row = tables_.ranked.data() + from.rank[0] * tables_.stride;
    if (to.count > 0 && to.adjoining) return row + to.rank[0];
    gather(buffer, row, to.rank, to.count);
    return buffer;
  }
  // The scores of going from each of `from` at position t to the first of `to` at t + 1.
  const S* entering(Index t, const Selection& from, const Selection& to, S* buffer) const {
    if (across_) gather(buffer, across_ + to.label[0] * padded(transitions_.labels), from.label, from.count);
    else
      for (Index n = 0; n < from.count; ++n) buffer[n] = transitions_.at(t, from.label[n], to.label[0]);
    return buffer;
  }

  // in[n], which is -inf before, becomes the best arrival at each of `to` from all of `from`, whose prefixes
  // score a; pure becomes the same for b. Returns how many transitions were scored.
  Index arrive(Index t, const Selection& from, const double* a, const double* b, const Selection& to, double* in,
               double* pure, S* buffer) const {
    for (Index i = 0; i < from.count; ++i)
      raise_both(in, pure, a[i], b[i], leaving(t, from.from(i), to, buffer), to.count);
    return from.count * to.count;
  }
  // The other way round: out[n] is the best departure from each of `from`, where suffixes from `to` on score a.
  Index depart(Index t, const Selection& from, const Selection& to, const double* a, const double* b, double* out,
               double* pure, S* buffer) const {
    for (Index i = 0; i < from.count; ++i)
      largest_sums(a, b, leaving(t, from.from(i), to, buffer), to.count, out + i, pure + i);
    return from.count * to.count;
  }

 private:
  Dense<S> transitions_;
  const DegenerateTables<S>& tables_;
  const S* across_;
};

}  // namespace certus
