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

  double best() const { return count_ > 0 ? ranked_[0].score : kNever<double>; }
  const Index* best_path() const { return ranked_[0].path; }  // [T], where there is one

  // Takes what `next` finds, paths in decreasing order of score, up to k, instead of those that were known.
  template <class Next>
  void take(Next& next) {
    for (count_ = 0; count_ < k_; ++count_) {
      ranked_[count_] = {next.remaining(), paths_ + count_ * trellis_.length};
      if (!next.next(ranked_[count_].path)) break;
    }
    is_summed_ = false;
  }

  // Takes a path unless it is forbidden, known, or not better than the k-th.
  void add(const Index* path) {
    const Index T = trellis_.length;
    const double score = sum(path);
    if (!is_summed_) sum_all();
    if (!(score > bound())) return;
    const Index n =
        std::partition_point(ranked_, ranked_ + count_, [&](const Ranked& r) { return r.score >= score; }) - ranked_;
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

  void sum_all() {
    for (Index n = 0; n < count_; ++n) ranked_[n].score = sum(ranked_[n].path);
    std::stable_sort(ranked_, ranked_ + count_, [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
    is_summed_ = true;
  }

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
  bool is_summed_ = true;  // whether scores are sums in that order; those of a list may differ in the last digits
  Index* paths_;           // [k][T]
  Ranked* ranked_;         // [k], best first
};

// Writes the path of a beam of width 1; false if it meets a dead end.
template <class Tr>
bool follow_best(const Trellis<Tr>& trellis, Index* path, Counters& counters, Arena& arena) {
  using S = typename Tr::Score;
  const Arena::Scope scope(arena);
  const Index L = trellis.labels;
  const S* const nothing = trellis.model->bounds().nothing.data();
  S* buffer = arena.get<S>(L);
  Heed heed;
  for (Index t = 0; t < trellis.length; ++t, heed(2 * L)) {
    const S* node = trellis.node(t);
    const S* row = t ? trellis.transitions.row(t - 1, static_cast<Label>(path[t - 1]), buffer) : nothing;
    path[t] = argmax_sum(row, node, 1, L);
    if (row[path[t]] + node[path[t]] == kNever<S>) return false;
    if (t) counters.edges += L;
  }
  return true;
}

}  // namespace certus
