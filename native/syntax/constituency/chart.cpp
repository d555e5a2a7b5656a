#include "syntax/constituency/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "syntax/constituency/rows.hpp"

namespace certus::syntax {
namespace {

constexpr float kNone = kNever<float>;
constexpr std::size_t kFirstPool = std::size_t{1} << 18;  // numbers
constexpr std::size_t kKeep = std::size_t{16} << 20;      // numbers that rows may hold on to

// Of a row with widths up to the most.
std::size_t find_size(Index most) { return static_cast<std::size_t>(most + 1 + kLanes); }

}  // namespace

template <class X>
void Rows<X>::reset(Index length, Label symbols) {
  symbols_ = symbols;
  length_ = length;
  // If every row is made; most grammars make about half of them. Two of these make a chart.
  double bytes = 0;
  for (Index word = 0; word < length; ++word) bytes += static_cast<double>(find_size(length - word));
  bytes *= static_cast<double>(symbols) * sizeof(X);
  if (2 * bytes > kMostBytes) throw TooLarge(2 * bytes);
  std::size_t held = 0;
  for (const Pool& pool : pools_) held += pool.size;
  if (held > kKeep) pools_.clear();  // after a very long sentence
  pool_ = used_ = 0;
  const auto places = static_cast<std::size_t>(length) * static_cast<std::size_t>(symbols);
  place_.assign(places, nullptr);
  listed_.resize(static_cast<std::size_t>(length));
  for (auto& list : listed_) list.clear();
}

template <class X>
X* Rows<X>::make(Index word, Label symbol, X empty) {
  X*& row = place_[word * symbols_ + symbol];
  if (!row) {
    const std::size_t count = find_size(length_ - word);
    row = take(count);
    std::fill(row, row + count, empty);
    listed_[word].push_back(symbol);
  }
  return row;
}

template <class X>
X* Rows<X>::share(Index word, Label symbol, X* row) {
  listed_[word].push_back(symbol);
  return place_[word * symbols_ + symbol] = row;
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
  symbols_ = rules.symbols();
  highest_ = kNever<double>;
  top_.reset(length_, rules.symbols());
  bottom_.reset(length_, rules.symbols());
  grain_ = length_ / 64 + 1;
  const auto rows = static_cast<std::size_t>(length_ * symbols_);
  for (std::vector<std::uint64_t>* widths : {&top_widths_, &bottom_widths_}) widths->resize(rows);
  if (!set_leaves(grammar, leaves, adjust, tags)) return;
  listed_.assign(rows, {-1, -1});
  found_.clear();
  most_.assign(static_cast<std::size_t>(length_ * (length_ + 1)), kNone);
  here_.resize(static_cast<std::size_t>(symbols_));
  children_.resize(here_.size());
  Heed heed;
  for (Index word = length_ - 1; word >= 0; --word) {
    lefts_.clear();
    for (Index width = 1; word + width <= length_; ++width) {
      close(rules, word, width);
      if (word + width < length_) combine(rules, word, width, heed);
    }
  }
  if (length_ > 0 && top_(0, grammar.start)) highest_ = top_(0, grammar.start)[length_];
}

// Tells whether every word has one.
bool Chart::set_leaves(const Grammar& grammar, const Leaves& leaves, const double* adjust, Index tags) {
  offset_ = 0;
  double largest = grammar.rules.largest(), mass = 0;
  for (Index i = 0; i < length_; ++i) {
    const auto score = [&](const Leaf& leaf) {
      return adjust ? leaf.score + adjust[i * tags + grammar.tag[leaf.symbol]] : leaf.score;
    };
    const Leaf* begin = leaves.leaves.data() + leaves.first[i];
    const Leaf* end = leaves.leaves.data() + leaves.first[i + 1];
    double best = kNever<double>;
    for (const Leaf* leaf = begin; leaf != end; ++leaf) best = std::max(best, score(*leaf));
    if (best == kNever<double>) return false;
    offset_ += best;
    mass += std::abs(best);
    for (const Leaf* leaf = begin; leaf != end; ++leaf) {
      const double relative = score(*leaf) - best;
      if (relative == kNever<double>) continue;
      largest = std::max(largest, -relative);
      bottom_.make(i, leaf->symbol, kNone)[1] = static_cast<float>(relative);
      bottom_widths_[i * symbols_ + leaf->symbol] = std::uint64_t{1} << (1 / grain_);
    }
  }
  // A derivation has at most 4 n scores, and each partial sum is off by at most its own rounding.
  const double terms = 4.0 * static_cast<double>(length_ + 1);
  single_ =
      terms * (terms * largest * std::numeric_limits<float>::epsilon() + std::numeric_limits<float>::denorm_min());
  rounding_ = single_ + terms * (terms * largest + mass) * std::numeric_limits<double>::epsilon();
  return true;
}

// Never -inf, which what is dead would reach.
float Chart::threshold(double margin) const {
  return std::max(static_cast<float>(highest_ - margin - single_), std::numeric_limits<float>::lowest());
}

inline void Chart::raise_top(const Rules& rules, Index word, Label symbol, Index width, float score) {
  std::uint64_t& widths = top_widths_[word * symbols_ + symbol];
  float* row = top_(word, symbol);
  if (!row) {
    row = rules.tops_chain(symbol) ? top_.make(word, symbol, kNone) : top_.share(word, symbol, bottom_(word, symbol));
    widths = 0;
    if (rules.rules_begin(symbol) != rules.rules_end(symbol)) lefts_.push_back(symbol);
  }
  widths |= std::uint64_t{1} << (width / grain_);
  row[width] = std::max(row[width], score);
}

// Lists in here_ what covers a span; returns how many there are. There is no branch in it, as a processor would guess
// most of them wrong.
Index Chart::list_symbols(const std::vector<Label>& symbols, const std::uint64_t* widths, Index width) {
  Label* next = here_.data();
  const Index bit = width / grain_;
  for (const Label symbol : symbols) {
    *next = symbol;
    next += widths[symbol] >> bit & 1;
  }
  return next - here_.data();
}

// The tops of a span, from its bottoms. Symbols that no chain leads to have one row for both.
void Chart::close(const Rules& rules, Index word, Index width) {
  float most = kNone;
  float* const* rows = bottom_.at(word);
  const Index count = list_symbols(bottom_.listed(word), bottom_widths_.data() + word * symbols_, width);
  for (Index n = 0; n < count; ++n) {
    const Label symbol = here_[n];
    const float score = rows[symbol][width];
    if (score == kNone) continue;
    most = std::max(most, score);
    raise_top(rules, word, symbol, width, score);
    for (const Rules::Chain* chain = rules.chains_begin(symbol); chain != rules.chains_end(symbol); ++chain) {
      const float above = score + static_cast<float>(chain->score);
      most = std::max(most, above);
      raise_top(rules, word, chain->parent, width, above);
    }
  }
  most_[word * (length_ + 1) + width] = most;
}

// Raises the bottoms of wider spans that begin with a span, which is done.
void Chart::combine(const Rules& rules, Index word, Index width, Heed& heed) {
  const Index next = word + width;
  const Index count = list_symbols(lefts_, top_widths_.data() + word * symbols_, width);
  Listed* listed = listed_.data() + next * symbols_;
  for (Index n = 0; n < count; ++n)
    if (listed[here_[n]].first < 0) listed[here_[n]] = list_rules(rules, next, here_[n]);
  LeftChild* child = children_.data();
  float* const* tops = top_.at(word);
  for (Index n = 0; n < count; ++n) {
    const auto [first, last] = listed[here_[n]];
    *child = {found_.data() + first, found_.data() + last, tops[here_[n]][width]};
    child += first != last;
    heed(1 + last - first);
  }
  std::uint64_t* widths = bottom_widths_.data() + word * symbols_;
  const std::uint64_t* present = top_widths_.data() + next * symbols_;
  const Raise raise{bottom_.at(word),           widths,         top_.at(next),     present, width,
                    blocks(length_ - next + 1), width / grain_, grain_ > 1 ? 1 : 0};
  LeftChild* end = std::exchange(child, children_.data());
  while ((child = raise_rows(raise, child, end)) != end) {
    bottom_.make(word, child->begin->parent, kNone);
    widths[child->begin->parent] = 0;
  }
}

Chart::Listed Chart::list_rules(const Rules& rules, Index word, Label left) {
  const auto first = static_cast<std::int32_t>(found_.size());
  const Rules::Rule *begin = rules.rules_begin(left), *end = rules.rules_end(left);
  found_.resize(found_.size() + static_cast<std::size_t>(end - begin));
  Rules::Rule* next = found_.data() + first;
  float* const* right = top_.at(word);
  for (const Rules::Rule* rule = begin; rule != end; ++rule) {
    *next = *rule;
    next += right[rule->right] != nullptr;
  }
  found_.resize(static_cast<std::size_t>(next - found_.data()));
  return {first, static_cast<std::int32_t>(found_.size())};
}

}  // namespace certus::syntax
