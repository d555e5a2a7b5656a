// The forward pass of the Viterbi algorithm, shared by the solvers that need every label's best prefix.
//
// alpha[t][y] is the best score of a path from position 0 to label y at position t, less offset[t], the
// largest such score: kept near zero, single precision stays exact to its last digit over long sentences.
// No back-pointers are stored: the predecessor of the few labels on a path is found again by re-scoring,
// which costs L a position instead of slowing down all L^2 updates.
#pragma once

#include "chain/solver.hpp"

namespace certus {

template <class S>
struct Forward {
  S* alpha;        // [T][width]
  Index width;     // labels, padded
  double* offset;  // [T]: what was taken out of alpha, from position 0 on
  Index died;      // the first position that no path reaches, or -1

  const S* row(Index t) const { return alpha + t * width; }
};

template <class S>
inline Forward<S> forward_storage(Index T, Index L, Arena& arena) {
  const Index width = padded(L);
  return {arena.get<S>(T * width), width, arena.get<double>(T), -1};
}

// Adds the nodes of position t to `alpha`, which holds the best arrivals, and takes the largest out.
// Tells whether any path is left.
template <class S>
inline bool settle(S* alpha, const S* arrivals, const S* node, Index L, Index width, double before, double* offset) {
  const S most = add_max(alpha, arrivals, node, L);
  std::fill(alpha + L, alpha + width, kNever<S>);
  if (most == kNever<S>) return false;
  subtract(alpha, most, L);
  *offset = before + static_cast<double>(most);
  return true;
}

// Calls use(begin, count) for blocks of the rows of a matrix [labels][labels], the last one first if `backward`, and
// looks between them whether to stop: a large matrix takes long.
template <class Use>
inline void for_row_blocks(Index labels, bool backward, Heed& heed, const Use& use) {
  constexpr Index kPairs = Index{1} << 22;
  const Index rows = labels * labels <= kPairs ? labels : std::max<Index>(64, kPairs / labels);
  if (rows == labels) {
    use(0, labels);
    return heed(labels * labels / 4);  // in vectors
  }
  const Index blocks = (labels + rows - 1) / rows;
  for (Index b = 0; b < blocks; ++b) {
    const Index begin = (backward ? blocks - 1 - b : b) * rows, count = std::min(rows, labels - begin);
    use(begin, count);
    heed(count * labels / 4);
  }
}

// Scores every transition: L^2 a position.
template <class S>
void arrive(const Trellis<Dense<S>>& trellis, Index t, const S* before, S* arrivals, Index width, Heed& heed, Arena&) {
  const Dense<S>& tr = trellis.transitions;
  std::fill(arrivals, arrivals + width, kNever<S>);
  for_row_blocks(trellis.labels, t % 2, heed, [&](Index begin, Index count) {
    maxplus(arrivals, before + begin, tr.data + (t - 1) * tr.step + begin * tr.stride, count, tr.stride,
            tr.step ? trellis.labels : (trellis.labels + 15) / 16 * 16,  // whole vectors, where there is padding
            t % 2);
  });
}

// Scores the listed transitions of the labels that matter, and the shared score once: arrivals[j] is the largest
// before[i] + transition(i, j).
//
// arrivals[j] starts as the best prefix whose transition to j is not listed, plus the shared score: for
// nearly all j that is the best prefix of all, for the others the first of the next best ones. A label i
// whose best transition, leave[i], cannot lift it over the least of these is skipped with all it lists.
template <class S>
void arrive_listed(const Sparse<S>& tr, const S* leave, const S* before, S* arrivals, Heed& heed, Arena& arena) {
  const Arena::Scope scope(arena);
  const Index L = tr.labels;
  constexpr Index kTop = 8;
  Label top[kTop];
  Index tops = 0;
  for (Index i = 0; i < L; ++i) {  // the kTop best prefixes, best first
    if (tops == kTop && !(before[i] > before[top[kTop - 1]])) continue;
    Index n = tops < kTop ? tops++ : kTop - 1;
    for (; n > 0 && before[i] > before[top[n - 1]]; --n) top[n] = top[n - 1];
    top[n] = static_cast<Label>(i);
  }
  std::fill(arrivals, arrivals + L, before[top[0]] + tr.fallback);
  Label* pending = arena.get<Label>(L);
  Index left = 0;
  for (Index n = tr.row_begin[top[0]]; n < tr.row_begin[top[0] + 1]; ++n) pending[left++] = tr.row_to[n];
  for (Index r = 1; r < tops && left; ++r) {
    Index kept = 0;
    const Label* listed = tr.row_to + tr.row_begin[top[r]];
    const Label* end = tr.row_to + tr.row_begin[top[r] + 1];
    for (Index n = 0; n < left; ++n) {
      while (listed != end && *listed < pending[n]) ++listed;
      if (listed != end && *listed == pending[n]) pending[kept++] = pending[n];
      else arrivals[pending[n]] = before[top[r]] + tr.fallback;
    }
    left = kept;
  }
  for (Index n = 0; n < left; ++n) {  // labels that list all of the best prefixes: look at every other one
    const Label j = pending[n];
    S best = kNever<S>;
    Index entry = tr.column_begin[j];
    for (Index i = 0; i < L; ++i) {
      if (entry < tr.column_begin[j + 1] && tr.column_from[entry] == i) ++entry;
      else best = std::max(best, before[i]);
    }
    arrivals[j] = best + tr.fallback;
  }
  Index work = 4 * L + left * L;
  const S least = *std::min_element(arrivals, arrivals + L);
  for (Index i = 0; i < L; ++i) {
    if (before[i] == kNever<S> || !(before[i] + leave[i] > least)) continue;
    work += tr.row_begin[i + 1] - tr.row_begin[i];
    for (Index n = tr.row_begin[i]; n < tr.row_begin[i + 1]; ++n) {
      const S x = before[i] + tr.row_score[n];
      S& arrival = arrivals[tr.row_to[n]];
      arrival = x > arrival ? x : arrival;
    }
  }
  heed(work);
}

template <class S>
void arrive(const Trellis<Sparse<S>>& trellis, Index, const S* before, S* arrivals, Index, Heed& heed, Arena& arena) {
  arrive_listed(trellis.transitions, trellis.model->bounds().leave_rounded.data(), before, arrivals, heed, arena);
}

// `arrive` is told the position, the ways to labels before it, where to write the arrivals, and how wide rows are.
template <class Tr, class Arrive>
Forward<typename Tr::Score> forward_by(const Trellis<Tr>& trellis, Arena& arena, const Arrive& arrive) {
  using S = typename Tr::Score;
  const Index T = trellis.length, L = trellis.labels;
  Forward<S> f = forward_storage<S>(T, L, arena);
  S* arrivals = arena.get<S>(f.width, S{0});
  Heed heed;
  for (Index t = 0; t < T; ++t) {
    if (t > 0) arrive(t, f.row(t - 1), arrivals, f.width, heed);
    if (settle(f.alpha + t * f.width, arrivals, trellis.node(t), L, f.width, t ? f.offset[t - 1] : 0, f.offset + t))
      continue;
    f.died = t;
    break;
  }
  return f;
}

template <class Tr>
Forward<typename Tr::Score> forward(const Trellis<Tr>& trellis, Arena& arena) {
  using S = typename Tr::Score;
  return forward_by(trellis, arena, [&](Index t, const S* before, S* arrivals, Index width, Heed& heed) {
    arrive(trellis, t, before, arrivals, width, heed, arena);
  });
}

// The first of the best labels at position t - 1 to reach label y at position t from.
template <class S>
Label predecessor(const Trellis<Dense<S>>& trellis, const S* before, Index t, Label y, Arena&) {
  const Dense<S>& tr = trellis.transitions;
  const S* across = trellis.model->transposed();
  if (across && !tr.step)
    return static_cast<Label>(argmax_sum(before, across + y * padded(trellis.labels), 1, trellis.labels));
  return static_cast<Label>(argmax_sum(before, tr.data + (t - 1) * tr.step + y, tr.stride, trellis.labels));
}

template <class S>
Label predecessor(const Trellis<Sparse<S>>& trellis, const S* before, Index, Label y, Arena& arena) {
  const Arena::Scope scope(arena);
  const S* column = trellis.transitions.column(y, arena.get<S>(trellis.labels));
  return static_cast<Label>(argmax_sum(before, column, 1, trellis.labels));
}

// Writes the best path that ends in label y at position t into labels[0 .. t].
template <class Tr>
void trace(const Trellis<Tr>& trellis, const Forward<typename Tr::Score>& f, Index t, Label y, Index* labels,
           Arena& arena) {
  labels[t] = y;
  Heed heed;
  for (; t > 0; --t, heed(trellis.labels))
    labels[t - 1] = predecessor(trellis, f.row(t - 1), t, static_cast<Label>(labels[t]), arena);
}

}  // namespace certus
