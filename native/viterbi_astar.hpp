// The whole lattice after a forward pass, as the search for next-best paths wants to see it.
#pragma once

#include "next_best.hpp"
#include "viterbi.hpp"

namespace certus {

template <class Tr>
class FullColumns {
 public:
  using S = typename Tr::Score;
  // `lattice`, `f` and `arena` must outlive the search.
  FullColumns(const Lattice<Tr>& lattice, const Forward<S>& f, Arena& arena)
      : lattice_(&lattice), forward_(&f), zeros_(arena.get<S>(lattice.labels, S{0})) {
    if constexpr (std::is_same_v<Tr, Sparse<S>>) column_ = arena.get<S>(lattice.labels);
  }

  Index length() const { return forward_->died >= 0 ? 0 : lattice_->length; }
  double offset(Index t) const { return forward_->offset[t]; }
  double node(Index t, Index y) const { return static_cast<double>(lattice_->node(t)[y]); }
  double link(Index t, Index i, Index y) const {
    return static_cast<double>(lattice_->at(t, static_cast<Label>(i), static_cast<Label>(y)));
  }
  Index label(Index, Index y) const { return y; }

  Index next(Index t, Index y, double value, Index index, double* found) const {
    if (t < 0) return -1;
    const Index L = lattice_->labels;
    const S* before = forward_->row(t);
    if (y < 0) return next_best_sum(before, zeros_, 1, L, value, index, found);
    if constexpr (std::is_same_v<Tr, Sparse<S>>) {
      const Sparse<S>& tr = lattice_->transitions;
      std::fill(column_, column_ + L, tr.fallback);
      for (Index n = tr.column_begin[y]; n < tr.column_begin[y + 1]; ++n)
        column_[tr.column_from[n]] = tr.column_score[n];
      return next_best_sum(before, column_, 1, L, value, index, found);
    } else {
      const Dense<S>& tr = lattice_->transitions;
      const S* across = lattice_->model->transposed();
      if (across && !tr.step) return next_best_sum(before, across + y * padded(L), 1, L, value, index, found);
      return next_best_sum(before, tr.data + t * tr.step + y, tr.stride, L, value, index, found);
    }
  }

 private:
  const Lattice<Tr>* lattice_;
  const Forward<S>* forward_;
  const S* zeros_;
  S* column_ = nullptr;
};

}  // namespace certus
