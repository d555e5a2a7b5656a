// The k best paths seen so far. The k-th score is the lower bound that iterative solvers prune with; because the
// paths themselves are kept, a bound that nothing exceeds any more makes them the answer, ties or not.
#pragma once

#include "chain/solver.hpp"

namespace certus {

template <class Tr>
class BestPaths {
 public:
  BestPaths(const Trellis<Tr>& trellis, Index k, Arena& arena)
      : trellis_(trellis), k_(k), paths_(arena.get<Index>(k * trellis.length)), ranked_(arena.get<Ranked>(k)) {}

  // What a path has to exceed to get in: -inf while fewer than k are known.
  double bound() const { return count_ == k_ ? ranked_[k_ - 1].score : kNever<double>; }

  // Takes a path unless it is forbidden, known, or not better than the k-th.
  void add(const Index* path) {
    const Index T = trellis_.length;
    const double score = sum(path);
    if (!(score > bound())) return;
    Index n = count_;
    while (n > 0 && ranked_[n - 1].score < score) --n;
    // The same path has the same sum, to the last digit.
    for (Index m = n - 1; m >= 0 && ranked_[m].score == score; --m)
      if (std::equal(path, path + T, ranked_[m].path)) return;
    Index* place = count_ < k_ ? paths_ + count_++ * T : ranked_[k_ - 1].path;
    std::copy_backward(ranked_ + n, ranked_ + count_ - 1, ranked_ + count_);
    ranked_[n] = {score, place};
    std::copy_n(path, T, place);
  }

  void write(Answer& answer) const {
    for (Index n = 0; n < count_; ++n)
      std::copy_n(ranked_[n].path, trellis_.length, answer.labels + n * trellis_.length);
    answer.found = count_;
  }

 private:
  struct Ranked {
    double score;
    Index* path;  // [T]
  };

  // In the order in which solvers add, from the scores they see.
  double sum(const Index* path) const {
    double score = static_cast<double>(trellis_.node(0)[path[0]]);
    for (Index t = 1; t < trellis_.length; ++t) {
      const Label from = static_cast<Label>(path[t - 1]), to = static_cast<Label>(path[t]);
      score += static_cast<double>(trellis_.at(t - 1, from, to));
      score += static_cast<double>(trellis_.node(t)[path[t]]);
    }
    return score;
  }

  const Trellis<Tr>& trellis_;
  Index k_, count_ = 0;
  Index* paths_;    // [k][T]
  Ranked* ranked_;  // [k], best first
};

// Beam search on the whole trellis: adds the `width` paths that survive, if any do. Hypotheses are whole prefixes,
// so several may end in one label.
template <class Tr>
void add_beam(const Trellis<Tr>& trellis, Index width, BestPaths<Tr>& paths, Counters& counters, Arena& arena) {
  using S = typename Tr::Score;
  struct Hypothesis {
    double score;
    Index from;  // index into the beam before
    Label label;
    bool operator<(const Hypothesis& other) const { return score > other.score; }  // heaps keep the worst on top
  };
  const Arena::Scope scope(arena);
  const Index T = trellis.length, L = trellis.labels;
  Hypothesis* beams = arena.get<Hypothesis>(T * width);
  Index* sizes = arena.get<Index>(T, 0);
  S* buffer = arena.get<S>(L);
  S* step = arena.get<S>(L);
  constexpr Index kBlock = 16;
  const auto any_above = [](const S* scores, double score, double least) {
    bool any = false;
    for (Index w = 0; w < kBlock; ++w) any |= score + static_cast<double>(scores[w]) > least;
    return any;
  };
  const auto extend = [&](Index t, double score, Index from, const S* scores, S most) {
    Hypothesis* beam = beams + t * width;
    Index& size = sizes[t];
    const auto least = [&] { return size < width ? kNever<double> : beam[0].score; };
    if (!(score + static_cast<double>(most) > least())) return;
    for (Index y = 0; y < L; ++y) {
      // Most labels are far too low: whole blocks of them are passed over.
      if (y % kBlock == 0)
        while (y + kBlock <= L && !any_above(scores + y, score, least())) y += kBlock;
      if (y == L) break;
      const double x = score + static_cast<double>(scores[y]);
      if (!(x > least())) continue;
      if (size == width) std::pop_heap(beam, beam + size--);
      beam[size++] = {x, from, static_cast<Label>(y)};
      std::push_heap(beam, beam + size);
    }
  };
  extend(0, 0.0, -1, trellis.node(0), largest(trellis.node(0), L));
  Heed heed;
  for (Index t = 1; t < T; ++t) {
    // The best go first, so that the others have much to reach.
    Hypothesis* before = beams + (t - 1) * width;
    std::sort(before, before + sizes[t - 1]);
    for (Index n = 0; n < sizes[t - 1]; ++n, heed(2 * L)) {
      const Hypothesis& h = before[n];
      const S most = add_max(step, trellis.transitions.row(t - 1, h.label, buffer), trellis.node(t), L);
      extend(t, h.score, n, step, most);
      counters.edges += L;
    }
  }
  Index* path = arena.get<Index>(T);
  for (Index n = 0; n < sizes[T - 1]; ++n, heed(8 * T)) {
    for (Index t = T - 1, at = n; t >= 0; --t) {
      const Hypothesis& h = beams[t * width + at];
      path[t] = h.label;
      at = h.from;
    }
    paths.add(path);
  }
}

}  // namespace certus
