#include "syntax/constituency/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "syntax/constituency/rows.hpp"

namespace certus::syntax {
namespace {

constexpr float kNone = kNever<float>;
constexpr std::size_t kFirstPool = std::size_t{1} << 18;  // numbers
constexpr std::size_t kKeep = std::size_t{16} << 20;      // numbers that rows may hold on to

}  // namespace

template <class X>
void Rows<X>::reset(Index length, Label symbols) {
  symbols_ = symbols;
  length_ = length;
  // If every row is made; most grammars make about half of them. Two of these make a chart.
  double bytes = 0;
  for (Index width = 1; width <= length; ++width) bytes += static_cast<double>(blocks(length - width + 1) + 1);
  bytes *= static_cast<double>(kLanes * symbols) * sizeof(X);
  if (2 * bytes > kMostBytes) throw TooLarge(2 * bytes);
  std::size_t held = 0;
  for (const Pool& pool : pools_) held += pool.size;
  if (held > kKeep) pools_.clear();  // after a very long sentence
  pool_ = used_ = 0;
  const auto places = static_cast<std::size_t>(length + 1) * static_cast<std::size_t>(symbols);
  place_.assign(places, nullptr);
  listed_.resize(static_cast<std::size_t>(length) + 1);
  for (auto& list : listed_) list.clear();
}

template <class X>
X* Rows<X>::make(Index width, Label symbol, X empty) {
  X*& row = place_[width * symbols_ + symbol];
  if (!row) {
    const auto count = static_cast<std::size_t>(kLanes * (blocks(length_ - width + 1) + 1));  // read from any span on
    row = take(count);
    std::fill(row, row + count, empty);
    listed_[width].push_back(symbol);
  }
  return row;
}

template <class X>
void Rows<X>::share(Index width, Label symbol, X* row) {
  place_[width * symbols_ + symbol] = row;
  listed_[width].push_back(symbol);
}

template <class X>
X* Rows<X>::take(std::size_t count) {
  while (pool_ < pools_.size() && used_ + count > pools_[pool_].size) ++pool_, used_ = 0;
  if (pool_ == pools_.size()) add_pool(count);
  used_ += count;
  return pools_[pool_].data.get() + (used_ - count);
}

template <class X>
void Rows<X>::add_pool(std::size_t least) {
  std::size_t held = 0;
  for (const Pool& pool : pools_) held += pool.size;
  const std::size_t size = std::max({least, held, kFirstPool});
  pools_.push_back({{}, size});
  pools_.back().data.reset(static_cast<X*>(::operator new[](size * sizeof(X), std::align_val_t{64})));
}

template class Rows<float>;
template class Rows<std::int32_t>;

void Chart::fill(const Grammar& grammar, const Leaves& leaves, const double* adjust, Index tags) {
  const Rules& rules = grammar.rules;
  length_ = leaves.length();
  highest_ = kNever<double>;
  top_.reset(length_, rules.symbols());
  bottom_.reset(length_, rules.symbols());
  words_ = length_ / 64 + 1;
  widths_.assign(static_cast<std::size_t>(rules.symbols() * words_), 0);
  reversed_.assign(static_cast<std::size_t>(rules.symbols() * words_), 0);
  symbols_ = rules.symbols();
  most_.resize(static_cast<std::size_t>((length_ + 1) * symbols_));
  row_.resize(most_.size());
  starts_.resize(most_.size());
  meetings_.resize(rules.pairs().size() * static_cast<std::size_t>(words_) + 1);
  offset_ = 0;
  double largest = rules.largest(), mass = 0;
  for (Index i = 0; i < length_; ++i) {
    const auto score = [&](const Leaf& leaf) {
      return adjust ? leaf.score + adjust[i * tags + grammar.tag[leaf.symbol]] : leaf.score;
    };
    const Leaf* begin = leaves.leaves.data() + leaves.first[i];
    const Leaf* end = leaves.leaves.data() + leaves.first[i + 1];
    double best = kNever<double>;
    for (const Leaf* leaf = begin; leaf != end; ++leaf) best = std::max(best, score(*leaf));
    if (best == kNever<double>) return;  // a word that nothing derives
    offset_ += best;
    mass += std::abs(best);
    for (const Leaf* leaf = begin; leaf != end; ++leaf) {
      const double relative = score(*leaf) - best;
      if (relative == kNever<double>) continue;
      largest = std::max(largest, -relative);
      bottom_.make(1, leaf->symbol, kNone)[i] = static_cast<float>(relative);
    }
  }
  // A derivation has at most 4 n scores, and each partial sum is off by at most its own rounding.
  const double terms = 4.0 * static_cast<double>(length_ + 1);
  single_ =
      terms * (terms * largest * std::numeric_limits<float>::epsilon() + std::numeric_limits<float>::denorm_min());
  rounding_ = single_ + terms * (terms * largest + mass) * std::numeric_limits<double>::epsilon();
  Heed heed;
  for (Index width = 1; width <= length_; ++width) {
    if (width > 1) combine(rules, width, heed);
    close(rules, width, heed);
  }
  if (length_ > 0 && top_.has(length_, grammar.start)) highest_ = top_(length_, grammar.start)[0];
}

// Never -inf, which what is dead would reach.
float Chart::threshold(double margin) const {
  return std::max(static_cast<float>(highest_ - margin - single_), std::numeric_limits<float>::lowest());
}

// Lists them; returns how many there are.
Index Chart::find_meetings(const Rules& rules, Index width) {
  Meeting* next = meetings_.data();
  for (const Rules::Pair& pair : rules.pairs())
    for (Index x = 0; x < words_; ++x) {
      *next = {&pair, 64 * x, find_splits(pair.left, pair.right, width, x)};
      next += next->splits != 0;
    }
  return next - meetings_.data();
}

// Lists the rows to add, left and right by turns; returns how many pairs.
Index Chart::gather_rows(const Meeting& meeting, Index width) {
  const Index left = meeting.pair->left * (length_ + 1), right = meeting.pair->right * (length_ + 1) + width;
  const float** next = from_.data();
  for (std::uint64_t bits = meeting.splits; bits; bits &= bits - 1) {
    const Index d = meeting.first + std::countr_zero(bits);
    next[0] = row_[left + d];
    next[1] = row_[right - d] + d;
    next += (starts_[left + d] & std::rotr(starts_[right - d], static_cast<int>(d % 64))) ? 2 : 0;
  }
  return (next - from_.data()) / 2;
}

// The bottoms of a width, from tops of smaller ones.
void Chart::combine(const Rules& rules, Index width, Heed& heed) {
  const Index count = blocks(length_ - width + 1);
  std::vector<float> best(static_cast<std::size_t>(count * kLanes));
  from_.resize(static_cast<std::size_t>(2 * width + 2));
  const Index meetings = find_meetings(rules, width);
  heed(static_cast<Index>(rules.pairs().size()) * words_);
  for (Index m = 0; m < meetings; ++m) {
    const Index n = gather_rows(meetings_[m], width);
    heed(1 + 2 * n * count);
    if (n == 0 || !best_sums(best.data(), from_.data(), n, count)) continue;
    const Rules::Pair& pair = *meetings_[m].pair;
    for (const Rules::Rule* rule = rules.rules() + pair.first; rule != rules.rules() + pair.last; ++rule)
      raise_row(bottom_.make(width, rule->parent, kNone), best.data(), rule->score, count);
  }
  std::sort(bottom_.listed(width).begin(), bottom_.listed(width).end());
}

// The tops of a width, from its bottoms.
void Chart::close(const Rules& rules, Index width, Heed& heed) {
  const Index count = blocks(length_ - width + 1);
  for (const Label symbol : bottom_.listed(width)) {
    float* from = bottom_(width, symbol);
    heed(count * (1 + (rules.chains_end(symbol) - rules.chains_begin(symbol))));
    if (rules.tops_chain(symbol)) raise_row(top_.make(width, symbol, kNone), from, 0, count);
    else top_.share(width, symbol, from);
    for (const Rules::Chain* chain = rules.chains_begin(symbol); chain != rules.chains_end(symbol); ++chain)
      raise_row(top_.make(width, chain->parent, kNone), from, static_cast<float>(chain->score), count);
  }
  for (const Label symbol : top_.listed(width)) {
    const float* row = top_(width, symbol);
    most_[width * symbols_ + symbol] = largest(row, count);
    std::uint64_t starts = 0;
    for (Index i = 0; i <= length_ - width; ++i) starts |= std::uint64_t{row[i] != kNone} << (i % 64);
    row_[symbol * (length_ + 1) + width] = row;
    starts_[symbol * (length_ + 1) + width] = starts;
    widths_[symbol * words_ + width / 64] |= std::uint64_t{1} << (width % 64);
    const Index mirrored = 64 * words_ - 1 - width;
    reversed_[symbol * words_ + mirrored / 64] |= std::uint64_t{1} << (mirrored % 64);
  }
}

}  // namespace certus::syntax
