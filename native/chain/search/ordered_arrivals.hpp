// The forward pass where nothing can be pruned: most transitions need not be read even so.
//
// A label i at position t-1 cannot be the best way to label j if before[i] + incoming[j] is no more than what other
// labels reach j with. So rows of transitions are read in the order of `before`, and once no label is left to which the
// next row could matter, all others are skipped. Labels that are left over, if few, are looked at one by one. Sums are
// those of the dense sweep, and so are the answers, to the last bit.
#pragma once

#include <algorithm>

#include "chain/search/forward_pass.hpp"

namespace certus {

// acc[j] = max(acc[j], max_i alpha[i] + rows[i][j]) for j < width, a multiple of kPad, and i < count.
void raise_rows(float* acc, const float* const* rows, const float* alpha, Index count, Index width);
void raise_rows(double* acc, const double* const* rows, const double* alpha, Index count, Index width);

// How many j < n have acc[j] < next + incoming[j].
Index count_open(const float* acc, const float* incoming, float next, Index n);
Index count_open(const double* acc, const double* incoming, double next, Index n);

template <class S>
class OrderedArrivals {
 public:
  OrderedArrivals(const Trellis<Dense<S>>& trellis, Arena& arena) : lattice_(trellis), arena_(arena) {}

  // arrivals[j] becomes the largest before[i] + transition(i, j).
  void arrive(Index t, const S* before, S* arrivals, Index width, Heed& heed) {
    if (useless_ > 1) return certus::arrive(lattice_, t, before, arrivals, width, heed, arena_);
    std::fill(arrivals, arrivals + width, kNever<S>);
    begin(before);
    Index open = L_;
    for (; taken_ < count_ && open * kFew > L_; heed(kBatch * L_ / 4)) {
      if (2 * taken_ > count_) {  // so many rows matter that looking for the others does not pay
        ++useless_;
        for (; taken_ < count_; heed(kBatch * L_ / 4)) take(std::min(kBatch, count_ - taken_), arrivals, width);
        return;
      }
      sort(taken_ + kBatch + 1);
      take(std::min(kBatch, sorted_ - taken_), arrivals, width);
      open = taken_ < count_ ? count_open(arrivals, incoming_, ways_[taken_].score, L_) : 0;
    }
    if (open && taken_ < count_) finish(arrivals, heed);
  }
  // The transitions that were read.
  Index edges() const { return edges_; }

 private:
  struct Way {
    S score;
    Label label;
  };
  static constexpr Index kBatch = 32;  // rows between two looks
  static constexpr Index kFew = 16;    // the share of labels that are looked at one by one

  void begin(const S* before) {
    count_ = taken_ = sorted_ = 0;
    for (Index i = 0; i < L_; ++i) {
      ways_[count_] = {before[i], static_cast<Label>(i)};
      count_ += before[i] != kNever<S>;
    }
  }
  // Puts at least so many of the best ways in order, if there are as many.
  void sort(Index least) {
    if (sorted_ >= std::min(least, count_)) return;
    const auto higher = [](const Way& a, const Way& b) { return a.score > b.score; };
    const Index end = std::min(count_, std::max(least, sorted_ + L_ / 5));
    if (end < count_) std::nth_element(ways_ + sorted_, ways_ + end, ways_ + count_, higher);
    std::sort(ways_ + sorted_, ways_ + end, higher);
    sorted_ = end;
  }
  void take(Index rows, S* arrivals, Index width) {
    const S* row[kBatch];
    S alpha[kBatch];
    for (Index n = 0; n < rows; ++n) {
      row[n] = lattice_.transitions.row(0, ways_[taken_ + n].label, nullptr);
      alpha[n] = ways_[taken_ + n].score;
    }
    raise_rows(arrivals, row, alpha, rows, width);
    taken_ += rows;
    edges_ += rows * L_;
  }
  // Takes the remaining rows to the labels that they could matter to.
  void finish(S* arrivals, Heed& heed) {
    Index open = L_;
    for (Index j = 0; j < L_; ++j) open_[j] = static_cast<Label>(j);
    for (; taken_ < count_; ++taken_) {
      sort(taken_ + 1);
      const Way way = ways_[taken_];
      if (taken_ % kBatch == 0 || open == L_) {
        Index left = 0;
        for (Index n = 0; n < open; ++n) {
          const Label j = open_[n];
          open_[left] = j;
          left += arrivals[j] < way.score + incoming_[j];
        }
        open = left;
        if (open == 0) return;
      }
      const S* const row = lattice_.transitions.row(0, way.label, nullptr);
      for (Index n = 0; n < open; ++n) arrivals[open_[n]] = std::max(arrivals[open_[n]], way.score + row[open_[n]]);
      edges_ += open;
      heed(4 * open);
    }
  }

  const Trellis<Dense<S>>& lattice_;
  Arena& arena_;
  const Index L_ = lattice_.labels;
  const S* const incoming_ = lattice_.model->bounds().incoming_rounded.data();
  Way* ways_ = arena_.get<Way>(L_ + 1);      // [count]: the labels before, the first `sorted` of them best first
  Label* open_ = arena_.get<Label>(L_ + 1);  // labels that more rows could matter to
  Index count_ = 0, taken_ = 0, sorted_ = 0;
  Index useless_ = 0;  // positions where most rows were read
  Index edges_ = 0;
};

}  // namespace certus
