// CKY: for every span the symbols that cover it, with the best scores of their derivations.
//
// Spans of one width do not depend on each other, so they are filled in together. For each width and symbol
// there is a row with the scores of its spans by their first word, and a step of the recursion
//
//     row(w, A)[i] = max over rules A -> B C and widths d of   score + row(d, B)[i] + row(w - d, C)[i + d]
//
// works on whole vectors. Rows in which nothing is possible are never touched: for each symbol a set of bits holds the
// widths in which it covers anything, and for each of these another one the spans. Two rows whose spans are nowhere
// side by side are not added, which is more than half of them. What is left is found without branches: a processor
// would guess most of them wrong.
//
// Scores are in single precision, and taken relative to the best leaf of each word, so that they stay small. The best
// derivations are found by packing all that come within the rounding of the best into a forest, where sums are taken in
// double precision. How far a derivation is below the best is asked of the chart's own numbers only: what is lost when
// they are added to the scores of the leaves cannot be had again.
#pragma once

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

// A number for each span of each symbol: rows by width, made when they are first used.
template <class X>
class Rows {
 public:
  // Throws TooLarge where all rows together might not fit.
  void reset(Index length, Label symbols);
  bool has(Index width, Label symbol) const { return place_[width * symbols_ + symbol]; }
  X* operator()(Index width, Label symbol) { return place_[width * symbols_ + symbol]; }
  const X* operator()(Index width, Label symbol) const { return place_[width * symbols_ + symbol]; }
  // The row, filled with `empty` if it was not there; it is then listed under its width.
  X* make(Index width, Label symbol, X empty);
  // Lists a row that is somebody else's, who keeps it.
  void share(Index width, Label symbol, X* row);
  const std::vector<Label>& listed(Index width) const { return listed_[width]; }
  std::vector<Label>& listed(Index width) { return listed_[width]; }

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
  std::vector<X*> place_;                   // [width][symbol] the row, or null
  std::vector<std::vector<Label>> listed_;  // [width]
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

  Index length() const { return length_; }
  double best() const { return highest_ + offset_; }  // of a tree, up to rounding; -inf where there is none
  double rounding() const { return rounding_; }       // what `best`, or a sum along a derivation, is off at most
  // The least that a derivation, or a part of one, has in the chart if it scores at most a margin less than the best.
  float threshold(double margin) const;

  const Rows<float>& tops() const { return top_; }
  const Rows<float>& bottoms() const { return bottom_; }
  // The largest score of a row of tops.
  float most(Index width, Label symbol) const { return most_[width * symbols_ + symbol]; }
  // Calls use(d) for all d such that the left symbol covers something of width d, the right one of width - d.
  template <class Use>
  void splits(Label left, Label right, Index width, const Use& use) const {
    for (Index x = 0; x < words_; ++x)
      for (std::uint64_t bits = find_splits(left, right, width, x); bits; bits &= bits - 1)
        use(64 * x + std::countr_zero(bits));
  }

 private:
  // Two symbols, and for 64 widths of the left one whether there are rows to add.
  struct Meeting {
    const Rules::Pair* pair;
    Index first;  // of the widths
    std::uint64_t splits;
  };

  // The d from 64 x on such that the left symbol covers something of width d, the right one of width - d, as bits.
  std::uint64_t find_splits(Label left, Label right, Index width, Index x) const {
    const std::uint64_t* b = reversed_.data() + right * words_;
    const Index shift = 64 * words_ - 1 - width, skip = x + shift / 64, rest = shift % 64;
    std::uint64_t bits = skip < words_ ? b[skip] >> rest : 0;
    if (rest && skip + 1 < words_) bits |= b[skip + 1] << (64 - rest);
    return bits & widths_[left * words_ + x];
  }
  Index find_meetings(const Rules& rules, Index width);
  Index gather_rows(const Meeting& meeting, Index width);
  void combine(const Rules& rules, Index width, Heed& heed);
  void close(const Rules& rules, Index width, Heed& heed);

  Index length_ = 0, words_ = 0, symbols_ = 0;
  double highest_ = kNever<double>;   // of a tree in the chart
  double offset_ = 0;                 // scores in the chart are so much less
  double rounding_ = 0, single_ = 0;  // single_: that of the chart's own sums
  std::vector<float> most_;           // [width][symbol]
  Rows<float> top_, bottom_;
  // [symbol][words_] bit d is set where tops of width d have a derivation; bit 64 * words_ - 1 - d in the other.
  std::vector<std::uint64_t> widths_, reversed_;
  // [symbol][width], of the widths that are set: the row, and bit i % 64 where the span from word i on has a
  // derivation.
  std::vector<const float*> row_;
  std::vector<std::uint64_t> starts_;
  std::vector<const float*> from_;  // scratch
  std::vector<Meeting> meetings_;   // scratch, of one width
};

extern template class Rows<float>;
extern template class Rows<std::int32_t>;

}  // namespace certus::syntax
