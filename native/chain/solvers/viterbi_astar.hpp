// The whole trellis after a forward pass, as the search for next-best paths wants to see it.
#pragma once

#include "chain/search/forward_pass.hpp"
#include "chain/search/next_best.hpp"

namespace certus {

CERTUS_SOLVER(viterbi_astar);

template <class Tr>
class FullColumns {
 public:
  using S = typename Tr::Score;
  // `trellis`, `f` and `arena` must outlive the search.
  FullColumns(const Trellis<Tr>& trellis, const Forward<S>& f, Arena& arena)
      : trellis_(&trellis), forward_(&f), zeros_(arena.get<S>(trellis.labels, S{0})) {
    if constexpr (std::is_same_v<Tr, Sparse<S>>) column_ = arena.get<S>(trellis.labels);
  }

  Index length() const { return forward_->died >= 0 ? 0 : trellis_->length; }
  Index width(Index) const { return trellis_->labels; }
  double offset(Index t) const { return forward_->offset[t]; }
  double node(Index t, Index y) const { return static_cast<double>(trellis_->node(t)[y]); }
  double link(Index t, Index i, Index y) const {
    return static_cast<double>(trellis_->at(t, static_cast<Label>(i), static_cast<Label>(y)));
  }
  Index label(Index, Index y) const { return y; }

  Index next(Index t, Index y, double value, Index index, double* found) const {
    if (t < 0) return -1;
    Index stride;
    const S* into = arrivals(t, y, &stride);
    return next_best_sum(forward_->row(t), into, stride, trellis_->labels, value, index, found);
  }
  TwoBest two(Index t, Index y) const {
    Index stride;
    const S* into = arrivals(t, y, &stride);
    return two_best_sums(forward_->row(t), into, stride, trellis_->labels);
  }

 private:
  // The transitions into label y at position t + 1 (zeros into the end of the sentence), and the step between them.
  const S* arrivals(Index t, Index y, Index* stride) const {
    *stride = 1;
    if (y < 0) return zeros_;
    const Tr& tr = trellis_->transitions;
    if constexpr (std::is_same_v<Tr, Sparse<S>>) {
      return tr.column(static_cast<Label>(y), column_);
    } else {
      const S* across = trellis_->model->transposed();
      if (across && !tr.step) return across + y * padded(trellis_->labels);
      *stride = tr.stride;
      return tr.data + t * tr.step + y;
    }
  }

  const Trellis<Tr>* trellis_;
  const Forward<S>* forward_;
  const S* zeros_;
  S* column_ = nullptr;
};

}  // namespace certus
