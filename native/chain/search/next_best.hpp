// Paths in decreasing order of score, one at a time, for as long as the caller asks.
//
// After a forward pass the score of the best way to any label is known exactly, so the backward search of
// Huang et al. 2012 (section 3.5, "Viterbi A*") never expands a hypothesis in vain. Each path taken from the
// agenda spawns, at every position before its last deviation, the paths that differ there. The paper pushes
// all L of them; here only the best is pushed, and the next best when that one is taken: T entries per path
// instead of T L, with the same order. The two best ways to a node are looked for once, since many paths share it; and
// where it is known how many paths are wanted, only what may be among them is pushed.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/interrupt.hpp"
#include "base/simd.hpp"
#include "base/types.hpp"

namespace certus {

// `Columns` describes the trellis after the forward pass:
//   Index length() const;
//   Index width(t)                                 how many labels column t has
//   double offset(t)                               added to scores at position t to make them absolute
//   Index next(t, y, value, index, double* found)  the best label at position t to go to label y at t + 1 from, among
//                                                  those after (value, index); y = -1 stands for the end of the
//                                                  sentence; *found is prefix + transition, less offset(t)
//   TwoBest two(t, y)                              the best two of those, in that order
//   double node(t, y), link(t, i, y)               the scores themselves
//   Index label(t, y)                              what to report for the y-th label of column t
template <class Columns>
class NextBest {
 public:
  // No more than `wanted` paths will be asked for, 0 stands for any number, and none that does not exceed `least`.
  explicit NextBest(Columns columns, Index wanted = 0, double least = kNever<double>)
      : columns_(std::move(columns)), wanted_(wanted), least_(least), begin_(columns_.length() + 1, 0) {
    for (Index t = 0; t < columns_.length(); ++t) begin_[t + 1] = begin_[t] + columns_.width(t);
    looked_.assign(begin_.back(), 0);
    offer(columns_.length() - 1, -1, -1, std::numeric_limits<double>::infinity(), -1);
  }

  // Writes the next path into labels[0 .. T - 1]; false when there is none left.
  bool next(Index* labels) {
    if (agenda_.empty()) return false;
    const Entry entry = agenda_.top();
    agenda_.pop();
    ++taken;
    offer(entry.t, entry.to, entry.suffix, entry.value, entry.label);
    Index suffix = extend(entry.t, entry.label, entry.to, entry.suffix);
    for (Index s = suffix, t = entry.t; s >= 0; s = pool_[s].next, ++t) labels[t] = columns_.label(t, pool_[s].label);
    Index y = entry.label;
    for (Index t = entry.t - 1; t >= 0; --t, heed_(kStep)) {
      const TwoBest& two = best_two(t, y);
      const Index best = two.index[0];
      if (two.index[1] >= 0) push(t, y, suffix, two.value[1], two.index[1]);
      suffix = extend(t, best, y, suffix);
      labels[t] = columns_.label(t, best);
      y = best;
    }
    return true;
  }

  // An upper bound on every path that is still to come (the score of the next one, up to rounding).
  double remaining() const { return agenda_.empty() ? kNever<double> : agenda_.top().score; }

  Index taken = 0;

 private:
  struct Suffix {
    Index label, next;  // next: index into the pool, or -1 at the end of the sentence
    double score;       // of everything from this label on
  };
  struct Entry {
    double score;  // of the whole path
    Index order;   // earlier offers first among equals
    Index t, label, to, suffix;
    double value;  // of the way to `to` through `label` at t
    bool operator<(const Entry& other) const {
      return score != other.score ? score < other.score : order > other.order;
    }
  };

  // The best two labels at position t to go to label y at t + 1 from.
  const TwoBest& best_two(Index t, Index y) {
    std::uint32_t& place = looked_[begin_[t + 1] + y];
    if (!place) {
      two_.push_back(columns_.two(t, y));
      place = static_cast<std::uint32_t>(two_.size());
    }
    return two_[place - 1];
  }

  // Offers the best path through `suffix` (which starts with label `to` at t + 1) after (value, label).
  void offer(Index t, Index to, Index suffix, double value, Index label) {
    double found;
    const Index best = columns_.next(t, to, value, label, &found);
    if (best >= 0) push(t, to, suffix, found, best);
  }
  void push(Index t, Index to, Index suffix, double value, Index label) {
    const double rest = suffix < 0 ? 0 : pool_[suffix].score;
    const double score = columns_.offset(t) + value + rest;
    if (is_among_wanted(score)) agenda_.push({score, offered_++, t, label, to, suffix, value});
  }
  // Each offer is a path of its own: one that does not exceed as many others as are wanted will never be taken.
  bool is_among_wanted(double score) {
    if (!(score > least_)) return false;
    if (!wanted_) return true;
    if (static_cast<Index>(best_.size()) == wanted_) {
      if (!(score > best_.top())) return false;
      best_.pop();
    }
    best_.push(score);
    return true;
  }

  Index extend(Index t, Index label, Index to, Index suffix) {
    double score = columns_.node(t, label);
    if (suffix >= 0) score += columns_.link(t, label, to) + pool_[suffix].score;
    pool_.push_back({label, suffix, score});
    return static_cast<Index>(pool_.size()) - 1;
  }

  static constexpr Index kStep = Index{1} << 12;  // what a step counts for, whatever it takes

  Columns columns_;
  Heed heed_;
  Index wanted_;
  double least_;
  std::vector<Index> begin_;           // [T + 1]: where the nodes of a column begin among all
  std::vector<std::uint32_t> looked_;  // [nodes]: 1 + the place in two_ of the best two ways to a node, or 0
  std::vector<TwoBest> two_;
  std::priority_queue<Entry> agenda_;
  std::priority_queue<double, std::vector<double>, std::greater<>> best_;  // the best scores offered, if wanted_
  std::vector<Suffix> pool_;
  Index offered_ = 0;
};

}  // namespace certus
