// Paths in decreasing order of score, one at a time, for as long as the caller asks.
//
// After a forward pass the score of the best way to any label is known exactly, so the backward search of
// Huang et al. 2012 (section 3.5, "Viterbi A*") never expands a hypothesis in vain. Each path taken from the
// agenda spawns, at every position before its last deviation, the paths that differ there. The paper pushes
// all L of them; here only the best is pushed, and the next best when that one is taken: T entries per path
// instead of T L, with the same order. The ways to a node are looked for once, since many paths share it, and with them
// what the best path that deviates before it scores; where it is known how many paths are wanted, only what may be
// among them is pushed, and paths are not gone through where nothing is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
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
    offer_after(columns_.length() - 1, -1, std::numeric_limits<double>::infinity(), -1);
  }

  // Writes the next path into labels[0 .. T - 1]; false when there is none left.
  bool next(Index* labels) {
    if (agenda_.empty()) return false;
    const Offer best = take();
    ++taken;
    Index t = best.t, y = ways_[best.way].from;
    offer_next(best);
    Index suffix = extend(t, y, best.suffix);
    for (Index s = suffix, u = t; s >= 0; s = pool_[s].next, ++u) labels[u] = columns_.label(u, pool_[s].label);
    if (t == 0) return true;
    Index place = arrive(--t, y);
    for (; t >= 0; --t, heed_(kStep)) {
      const Arrival& arrival = arrivals_[place];
      if (!is_wanted(arrival.other + pool_[suffix].score)) break;
      labels[t] = arrival.label;
      place = arrival.before;
      y = ways_[arrival.best].from;
      if (arrival.second >= 0) offer(t, arrival.second, suffix);
      suffix = extend(t, y, suffix);
    }
    for (; t >= 0; --t) {
      labels[t] = arrivals_[place].label;
      place = arrivals_[place].before;
    }
    return true;
  }

  // An upper bound on every path that is still to come (the score of the next one, up to rounding).
  double remaining() const { return agenda_.empty() ? kNever<double> : agenda_.front().score; }

  Index taken = 0;

 private:
  struct Suffix {
    Index label, next;  // next: index into the pool, or -1 at the end of the sentence
    double score;       // of everything from this label on
  };
  // A way to some label, or to the end, by the label before it.
  struct Way {
    Index from;
    double value;
    Index next = kUnknown;  // the next best way to the same label, kNone if there is none
  };
  // How a label is reached.
  struct Arrival {
    Index label, before;  // the label before it on the best way, as it is reported, and its own place in arrivals_
    Index best, second;   // the best two ways, the second may be kNone
    double other;         // the best from the start but the best of all, wherever it deviates from that
  };
  // The best path by way `way` at position t to the first label of `suffix`.
  struct Offer {
    Index t, way, suffix;
  };
  struct Entry {
    double score;  // of the whole path
    Index offer;   // earlier ones first among equals
    bool operator<(const Entry& other) const {
      return score != other.score ? score < other.score : offer > other.offer;
    }
  };
  static constexpr Index kNone = -1, kUnknown = -2;

  // The place in arrivals_ of label y at position t + 1.
  Index arrive(Index t, Index y) {
    const Index known = looked_[begin_[t + 1] + y];
    return known ? known - 1 : look(t, y);
  }
  // Follows the best way back to a label that is known.
  [[gnu::noinline]] Index look(Index t, Index y) {
    const Index first = static_cast<Index>(arrivals_.size());
    Index to = y, s = t;
    for (; s >= 0 && !looked_[begin_[s + 1] + to]; --s) {
      const TwoBest two = columns_.two(s, to);
      const Index way = static_cast<Index>(ways_.size()), second = two.index[1] < 0 ? kNone : way + 1;
      ways_.push_back({two.index[0], two.value[0], second});
      if (second >= 0) ways_.push_back({two.index[1], two.value[1]});
      const Index place = static_cast<Index>(arrivals_.size());
      const double other = second < 0 ? kNever<double> : columns_.offset(s) + two.value[1];
      arrivals_.push_back({columns_.label(s, two.index[0]), place + 1, way, second, other});
      looked_[begin_[s + 1] + to] = static_cast<std::uint32_t>(place + 1);
      to = two.index[0];
    }
    arrivals_.back().before = s < 0 ? kNone : Index{looked_[begin_[s + 1] + to]} - 1;
    for (Index n = static_cast<Index>(arrivals_.size()) - 1; n >= first; --n) {
      Arrival& arrival = arrivals_[n];
      if (arrival.before < 0) continue;
      const Index from = ways_[arrival.best].from, at = t - (n - first);
      const double step =
          columns_.node(at, from) + columns_.link(at, from, n == first ? y : ways_[arrivals_[n - 1].best].from);
      arrival.other = std::max(arrival.other, arrivals_[arrival.before].other + step);
    }
    return first;
  }

  // Offers the path by the next best way, instead of the one that was taken.
  void offer_next(const Offer& last) {
    const Index next = ways_[last.way].next;
    if (next >= 0) return offer(last.t, next, last.suffix);
    if (next == kNone) return;
    const Index way = static_cast<Index>(ways_.size());
    const bool found = offer_after(last.t, last.suffix, ways_[last.way].value, ways_[last.way].from);
    ways_[last.way].next = found ? way : kNone;
  }
  // Looks for the best way to the first label of `suffix` after (value, from), and offers it.
  bool offer_after(Index t, Index suffix, double value, Index from) {
    double found;
    const Index best = columns_.next(t, first_label(suffix), value, from, &found);
    if (best < 0) return false;
    ways_.push_back({best, found});
    offer(t, static_cast<Index>(ways_.size()) - 1, suffix);
    return true;
  }
  void offer(Index t, Index way, Index suffix) {
    const double rest = suffix < 0 ? 0 : pool_[suffix].score, score = columns_.offset(t) + ways_[way].value + rest;
    if (!is_wanted(score)) return;
    agenda_.push_back({score, static_cast<Index>(offers_.size())});
    std::push_heap(agenda_.begin(), agenda_.end());
    offers_.push_back({t, way, suffix});
    if (wanted_) note(score);
  }
  Offer take() {
    const Index best = agenda_.front().offer;
    std::pop_heap(agenda_.begin(), agenda_.end());
    agenda_.pop_back();
    return offers_[best];
  }

  // Each offer is a path of its own: one that does not exceed as many others as are wanted will never be taken.
  bool is_wanted(double score) const { return score > least_ && (!is_full() || score > best_.front()); }
  bool is_full() const { return wanted_ && static_cast<Index>(best_.size()) == wanted_; }
  void note(double score) {
    if (!is_full()) {
      best_.push_back(score);
      std::push_heap(best_.begin(), best_.end(), std::greater<>());
      return;
    }
    Index place = 0;
    for (Index child; (child = 2 * place + 1) < wanted_; place = child) {
      if (child + 1 < wanted_ && best_[child + 1] < best_[child]) ++child;
      if (!(best_[child] < score)) break;
      best_[place] = best_[child];
    }
    best_[place] = score;
  }

  Index first_label(Index suffix) const { return suffix < 0 ? -1 : pool_[suffix].label; }
  Index extend(Index t, Index label, Index suffix) {
    double score = columns_.node(t, label);
    if (suffix >= 0) score += columns_.link(t, label, pool_[suffix].label) + pool_[suffix].score;
    pool_.push_back({label, suffix, score});
    return static_cast<Index>(pool_.size()) - 1;
  }

  static constexpr Index kStep = Index{1} << 12;  // what a step counts for, whatever it takes

  Columns columns_;
  Heed heed_;
  Index wanted_;
  double least_;
  std::vector<Index> begin_;           // [T + 1]: where the nodes of a column begin among all
  std::vector<std::uint32_t> looked_;  // [nodes]: 1 + the place in arrivals_ of the ways to a node, or 0
  std::vector<Arrival> arrivals_;
  std::vector<Way> ways_;
  std::vector<Offer> offers_;
  std::vector<Entry> agenda_;  // a heap, the best first
  std::vector<double> best_;   // a heap, the least first: the best scores offered, if wanted_
  std::vector<Suffix> pool_;
};

}  // namespace certus
