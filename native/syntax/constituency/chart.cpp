#include "syntax/constituency/chart.hpp"

#include <algorithm>
#include <atomic>
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
  static std::atomic<std::uint64_t> count{0};
  const Rules& rules = grammar.rules;
  number_ = ++count;
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
  found_count_ = 0;
  most_.assign(static_cast<std::size_t>(length_ * (length_ + 1)), kNone);
  here_.resize(static_cast<std::size_t>(symbols_));
  children_.resize(here_.size());
  Heed heed;
  for (Index word = length_ - 1; word >= 0; --word) {
    for (std::vector<Label>* list : {&shared_lefts_, &raised_lefts_, &chained_}) list->clear();
    for (const Label symbol : bottom_.listed(word)) add_bottom(rules, word, symbol);
    for (Index width = 1; word + width <= length_; ++width) {
      close(rules, word, width);
      if (word + width < length_) combine(rules, word, width, heed);
    }
    end_word(rules, word);
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

// Notes a bottom that a word begins. Symbols that no chain leads to have one row for both.
void Chart::add_bottom(const Rules& rules, Index word, Label symbol) {
  const bool raised = rules.tops_chain(symbol);
  if (raised || rules.chains_begin(symbol) != rules.chains_end(symbol)) chained_.push_back(symbol);
  if (raised) return;
  top_.share(word, symbol, bottom_(word, symbol));
  if (rules.rules_begin(symbol) != rules.rules_end(symbol)) shared_lefts_.push_back(symbol);
}

inline void Chart::raise_top(const Rules& rules, Index word, Label symbol, Index width, float score) {
  std::uint64_t& widths = top_widths_[word * symbols_ + symbol];
  float* row = top_(word, symbol);
  if (!row) {
    row = top_.make(word, symbol, kNone);
    widths = 0;
    if (rules.rules_begin(symbol) != rules.rules_end(symbol)) raised_lefts_.push_back(symbol);
  }
  widths |= std::uint64_t{1} << (width / grain_);
  row[width] = std::max(row[width], score);
}

// Lists what covers a span; returns the end of it. There is no branch in it, as a processor would guess most of them
// wrong.
Label* Chart::list_symbols(const std::vector<Label>& symbols, const std::uint64_t* widths, Index width,
                           Label* next) const {
  const Index bit = width / grain_;
  for (const Label symbol : symbols) {
    *next = symbol;
    next += widths[symbol] >> bit & 1;
  }
  return next;
}

// The tops of a span that have rows of their own, from its bottoms.
void Chart::close(const Rules& rules, Index word, Index width) {
  float* const* rows = bottom_.at(word);
  const Label* end = list_symbols(chained_, bottom_widths_.data() + word * symbols_, width, here_.data());
  for (const Label* symbol = here_.data(); symbol != end; ++symbol) {
    const float score = rows[*symbol][width];
    if (score == kNone) continue;
    if (rules.tops_chain(*symbol)) raise_top(rules, word, *symbol, width, score);
    for (const Rules::Chain* chain = rules.chains_begin(*symbol); chain != rules.chains_end(*symbol); ++chain)
      raise_top(rules, word, chain->parent, width, score + static_cast<float>(chain->score));
  }
}

// Raises the bottoms of wider spans that begin with a span, which is done.
void Chart::combine(const Rules& rules, Index word, Index width, Heed& heed) {
  const Index next = word + width;
  std::uint64_t* widths = bottom_widths_.data() + word * symbols_;
  Label* last = list_symbols(shared_lefts_, widths, width, here_.data());
  last = list_symbols(raised_lefts_, top_widths_.data() + word * symbols_, width, last);
  Listed* listed = listed_.data() + next * symbols_;
  for (const Label* left = here_.data(); left != last; ++left)
    if (listed[*left].first < 0) listed[*left] = list_rules(rules, next, *left);
  LeftChild* child = children_.data();
  float* const* tops = top_.at(word);
  Index count = last - here_.data();
  for (const Label* left = here_.data(); left != last; ++left) {
    const auto [begin, end] = listed[*left];
    *child = {found_.data() + begin, found_.data() + end, tops[*left][width]};
    child += begin != end;
    count += end - begin;
  }
  heed(count);
  const std::uint64_t* present = top_widths_.data() + next * symbols_;
  const Raise raise{rules.rules(), bottom_.at(word),       widths,         top_.at(next),     present,
                    width,         blocks(length_ - next), width / grain_, grain_ > 1 ? 1 : 0};
  LeftChild* end = std::exchange(child, children_.data());
  while ((child = raise_rows(raise, child, end)) != end) {
    const Label parent = rules.rules()[*child->begin].parent;
    bottom_.make(word, parent, kNone);
    widths[parent] = 0;
    add_bottom(rules, word, parent);
  }
}

// The widths of the tops that are bottoms, too, and the largest of all tops, once a word is done.
void Chart::end_word(const Rules& rules, Index word) {
  float* most = most_.data() + word * (length_ + 1);
  for (const Label symbol : top_.listed(word)) {
    if (!rules.tops_chain(symbol)) top_widths_[word * symbols_ + symbol] = bottom_widths_[word * symbols_ + symbol];
    const float* row = top_(word, symbol);
    for (Index width = 1; word + width <= length_; ++width) most[width] = std::max(most[width], row[width]);
  }
}

Chart::Listed Chart::list_rules(const Rules& rules, Index word, Label left) {
  const Rules::Rule *begin = rules.rules_begin(left), *end = rules.rules_end(left);
  const auto first = static_cast<std::size_t>(found_count_);
  if (first + static_cast<std::size_t>(end - begin) > found_.size())
    found_.resize(2 * (first + static_cast<std::size_t>(end - begin)));
  std::int32_t* next = found_.data() + first;
  float* const* right = top_.at(word);
  auto number = static_cast<std::int32_t>(begin - rules.rules());
  for (const Rules::Rule* rule = begin; rule != end; ++rule, ++number) {
    *next = number;
    next += right[rule->right] != nullptr;
  }
  found_count_ = static_cast<std::int32_t>(next - found_.data());
  return {static_cast<std::int32_t>(first), found_count_};
}

}  // namespace certus::syntax
