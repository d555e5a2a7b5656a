// CKY: for every span the symbols that cover it, with the best scores of their derivations.
//
// For each word and symbol there is a row with the scores of the spans that begin there, by their width. Words are
// taken from the last to the first, and the spans that begin with a word from the shortest to the longest. Once a span
// is done, it is tried as the left child of all that are wider: whatever may stand to the right of it is in rows that
// are finished, so a step of the recursion
//
//     row(i, A)[d + w] = max(itself, score + row(i, B)[d] + row(i + d, C)[w])    for a rule A -> B C, and all w
//
// works on a whole vector. Rows in which nothing is possible are never made. The rules of a left child whose right one
// begins at a word are listed when they are first asked for, so no step is in vain. Grammars are sparse: with a few
// hundred symbols over a span, a rule in a hundred finds both of its children there.
//
// Scores are in single precision, and taken relative to the best leaf of each word, so that they stay small. The best
// derivations are found by packing all that come within the rounding of the best into a forest, where sums are taken in
// double precision. How far a derivation is below the best is asked of the chart's own numbers only: what is lost when
// they are added to the scores of the leaves cannot be had again.
#pragma once

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "base/interrupt.hpp"
#include "syntax/constituency/grammar.hpp"
#include "syntax/constituency/rows.hpp"

namespace certus::syntax {

// Thrown where a sentence has more trees, or larger ones, than fit into what one sentence may take of memory.
struct TooLarge : std::exception {
  explicit TooLarge(double all) : bytes(all) {}
  double bytes;  // what might have been needed
};
inline constexpr std::size_t kMostBytes = std::size_t{4} << 30;

// A number for each span of each symbol: rows by the first word, with a place for each width, made when they are first
// used.
template <class X>
class Rows {
 public:
  // Throws TooLarge where all rows together might not fit.
  void reset(Index length, Label symbols);
  X* operator()(Index word, Label symbol) const { return place_[word * symbols_ + symbol]; }  // null if it was not made
  X* const* at(Index word) const { return place_.data() + word * symbols_; }                  // [symbol]
  // The row, filled with `empty` if it was not there; it is then listed under its word.
  X* make(Index word, Label symbol, X empty);
  // Lists a row that is somebody else's, who keeps it.
  X* share(Index word, Label symbol, X* row);
  const std::vector<Label>& listed(Index word) const { return listed_[word]; }

 private:
  struct Free {
    void operator()(X* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  struct Pool {
    std::unique_ptr<X[], Free> data;
    std::size_t size;
  };
  X* take(std::size_t count);
  void add_pool(std::size_t least);

  Label symbols_ = 0;
  Index length_ = 0;
  std::vector<Pool> pools_;                 // each as large as all before it, so that they are few
  std::size_t pool_ = 0, used_ = 0;         // the pool that rows are taken from, and what of it is taken
  std::vector<X*> place_;                   // [word][symbol] the row, or null
  std::vector<std::vector<Label>> listed_;  // [word]
};

class Chart {
 public:
  // One for each thread, so that parsing one sentence after the other allocates nothing.
  static Chart& local() {
    thread_local Chart chart;
    return chart;
  }

  // Fills in the best scores of all derivations. The leaf of tag t at word i scores adjust[i * tags + t] more.
  void fill(const Grammar& grammar, const Leaves& leaves, const double* adjust, Index tags);

  // Another number for each `fill`, in all charts: whether a chart is still what it was.
  std::uint64_t number() const { return number_; }
  Index length() const { return length_; }
  double best() const { return highest_ + offset_; }  // of a tree, up to rounding; -inf where there is none
  double rounding() const { return rounding_; }       // what `best`, or a sum along a derivation, is off at most
  // The least that a derivation, or a part of one, has in the chart if it scores at most a margin less than the best.
  float threshold(double margin) const;

  float most(Index word, Index width) const { return most_[word * (length_ + 1) + width]; }  // of all tops of a span
  // Calls use(w) for all widths below `most`, ascending, with which a top may begin at a word, which has a row.
  template <class Use>
  void each_width(Index word, Label symbol, Index most, const Use& use) const {
    for (std::uint64_t bits = top_widths_[word * symbols_ + symbol]; bits; bits &= bits - 1) {
      const Index first = grain_ * std::countr_zero(bits);
      if (first >= most) return;
      for (Index width = first; width < std::min(first + grain_, most); ++width) use(width);
    }
  }
  const Rows<float>& tops() const { return top_; }
  const Rows<float>& bottoms() const { return bottom_; }

 private:
  // The rules of a left child whose right one begins at a word: [first, last) of found_; first is -1 if nobody asked.
  struct Listed {
    std::int32_t first, last;
  };

  bool set_leaves(const Grammar& grammar, const Leaves& leaves, const double* adjust, Index tags);
  void add_bottom(const Rules& rules, Index word, Label symbol);
  void raise_top(const Rules& rules, Index word, Label symbol, Index width, float score);
  Label* list_symbols(const std::vector<Label>& symbols, const std::uint64_t* widths, Index width, Label* next) const;
  void close(const Rules& rules, Index word, Index width);
  void combine(const Rules& rules, Index word, Index width, Heed& heed);
  void end_word(const Rules& rules, Index word);
  Listed list_rules(const Rules& rules, Index word, Label left);

  std::uint64_t number_ = 0;
  Index length_ = 0, symbols_ = 0, grain_ = 1;
  double highest_ = kNever<double>;   // of a tree in the chart
  double offset_ = 0;                 // scores in the chart are so much less
  double rounding_ = 0, single_ = 0;  // single_: that of the chart's own sums
  std::vector<float> most_;           // [word][width]
  Rows<float> top_, bottom_;
  // [word][symbol] of rows that are there: bit w / grain_ is set where width w has a derivation; in long sentences,
  // too, where a neighbour of it has one.
  std::vector<std::uint64_t> top_widths_, bottom_widths_;
  std::vector<Listed> listed_;       // [word][symbol]
  std::vector<std::int32_t> found_;  // numbers of rules
  std::int32_t found_count_ = 0;
  // Of the present word: tops that some rule has on the left, those with the bottom's row and those with one of their
  // own; bottoms with a chain above or below them.
  std::vector<Label> shared_lefts_, raised_lefts_, chained_;
  std::vector<Label> here_;          // scratch: symbols of one span
  std::vector<LeftChild> children_;  // scratch, of one span
};

extern template class Rows<float>;
extern template class Rows<std::int32_t>;

}  // namespace certus::syntax
