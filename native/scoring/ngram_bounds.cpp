#include "scoring/ngram_bounds.hpp"

#include <cmath>
#include <limits>

namespace certus::scoring {
namespace {

constexpr std::size_t kMostWeights = std::size_t{1} << 18;  // in a table of three coarse tags
constexpr std::size_t kRoom = 4;   // how much larger tables by keys are while sequences share a place less often
constexpr Index kMostGroups = 64;  // that are told apart: their pairs are looked at one by one

void raise(float& x, float y) { x = std::max(x, y); }

}  // namespace

NgramBounds::NgramBounds(const Tagset& tagset, Index order, const NgramTable& table)
    : tagset_(tagset), table_(table), order_(order), width_(static_cast<std::size_t>(tagset.groups) + 1) {
  group_.assign(tagset.group.begin(), tagset.group.end());
  group_.push_back(static_cast<Unit>(tagset.groups));
  if (tagset.groups > kMostGroups) {
    width_ = 2;
    std::fill(group_.begin(), group_.end() - 1, 0);
    group_.back() = 1;
  }
  lay_out();
  // Until the sequences are known, each may have the largest weight.
  const float most = std::max(0.0f, *std::max_element(table.weights, table.weights + table.mask + 1));
  const float all = most * static_cast<float>(order), longer = all - most;
  for (Tables* tables : {&early_, &late_}) {
    clear(*tables, all);
    std::fill(tables->above_pair.begin(), tables->above_pair.end(), longer);
  }
  set_longer({longer});
  most_longer_.assign(static_cast<std::size_t>(tagset.labels) + 1, longer);
  most_longer_tags_.assign(static_cast<std::size_t>(tagset.groups) + 1, longer);
  ending_after_.assign(width_ * static_cast<std::size_t>(places()), all);
  leaving_to_ = ending_after_;
  complete(early_), complete(late_);
  told_ = static_cast<std::size_t>(tagset.groups) + 1;
  list_triples();
}

// The weights of three coarse tags, with what longer n-grams may add, unless they are many.
void NgramBounds::list_triples() {
  triples_.clear();
  if (order_ < 2 || told_ * told_ * told_ > kMostWeights) return;
  for (std::size_t n = 0; n < told_ * told_ * told_; ++n) {
    const Unit tags[3] = {static_cast<Unit>(n % told_), static_cast<Unit>(n / told_ / told_),
                          static_cast<Unit>(n / told_ % told_)};
    triples_.push_back(weigh_tags(tags, 3) + (order_ > 2 ? above_tags(tags[0], tags[1], tags[2]) : 0));
  }
}

void NgramBounds::lay_out() {
  const bool merged = groups() < tagset_.groups;
  place_.resize(tagset_.labels);
  for (Index g = 0; g < groups(); ++g) {
    const Index first = merged ? 0 : tagset_.member_begin[g],
                last = merged ? tagset_.labels : tagset_.member_begin[g + 1];
    for (Index i = first; i < last; ++i) {
      place_[tagset_.members[i]] = static_cast<Index>(label_.size());
      label_.push_back(tagset_.members[i]);
    }
    label_.resize((label_.size() + kBlock - 1) / kBlock * kBlock, -1);
    begin_.push_back(static_cast<Index>(label_.size()));
  }
}

void NgramBounds::set_longer(const std::vector<float>& longer) {
  step_ = std::max(*std::max_element(longer.begin(), longer.end()) / 254, std::numeric_limits<float>::min());
  longer_.assign(std::max<std::size_t>(longer.size() / kRoom, 1), 0);
  mask_ = longer_.size() - 1;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const auto steps = static_cast<std::uint8_t>(std::min(std::ceil(longer[i] / step_) + (longer[i] > 0), 255.0f));
    longer_[i & mask_] = std::max(longer_[i & mask_], steps);
  }
}

void NgramBounds::clear(Tables& tables, float value) const {
  tables = {};
  tables.ending.assign(static_cast<std::size_t>(tagset_.labels) + 1, value), tables.leaving = tables.ending;
  tables.coarse.assign(width_ * width_, static_cast<double>(value));
  tables.above_pair.assign(width_ * width_, value);
}

// Fills what follows from the other tables.
void NgramBounds::complete(Tables& tables) const {
  for (const Label y : label_) {
    tables.ending_place.push_back(y < 0 ? 0 : tables.ending[y]);
    tables.around.push_back(y < 0 ? 0 : tables.ending[y] + tables.leaving[y]);
  }
  for (auto* row : {&tables.ending_place, &tables.around}) row->resize(row->size() + kBlock, 0);
  for (Index g = 0; g < groups(); ++g) {
    tables.most.push_back({0, 0, 0});
    for (Index place = begin(g); place < begin(g + 1); ++place)
      tables.most.back().raise({0, tables.ending_place[place], tables.around[place]});
  }
  find_group_pairs(tables);
}

// What labels may add, over all labels of a coarse tag.
void NgramBounds::find_group_pairs(Tables& tables) const {
  tables.entering = tables.departing = tables.coarse;
  for (std::size_t g = 0; g < width_; ++g)
    for (Index h = 0; h < groups(); ++h) {
      const auto largest = [&](const std::vector<float>& rows) {
        const auto row = rows.begin() + static_cast<std::ptrdiff_t>(g) * places();
        return static_cast<double>(*std::max_element(row + begin(h), row + begin(h + 1)));
      };
      tables.entering[g * width_ + static_cast<std::size_t>(h)] += largest(ending_after_);
      tables.departing[static_cast<std::size_t>(h) * width_ + g] += largest(leaving_to_);
    }
  const auto transpose = [&](const std::vector<double>& table) {
    std::vector<double> turned(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) turned[i % width_ * width_ + i / width_] = table[i];
    return turned;
  };
  tables.coarse_into = transpose(tables.coarse), tables.entering_into = transpose(tables.entering);
  tables.departing_into = transpose(tables.departing);
  const auto find_most = [&](const std::vector<double>& table, std::vector<double>& most) {
    most.clear();
    for (auto row = table.begin(); row != table.end(); row += static_cast<std::ptrdiff_t>(width_))
      most.push_back(*std::max_element(row, row + static_cast<std::ptrdiff_t>(width_)));
  };
  find_most(tables.coarse, tables.most_after), find_most(tables.coarse_into, tables.most_into);
}

// What a row says, if it is one.
template <class Number>
struct NgramBounds::Row {
  const Number* numbers;  // the last ones are those of the sequence
  Index width, length = 0, first = 0;
  bool coarse = false, begins = false;  // whether it is of coarse tags; whether it begins with the boundary

  Row(const Number* row, Index size, const SequenceCode& code) : numbers(row), width(size), length(size) {
    while (numbers[width - length] == code.nothing()) --length;
    coarse = code.is_group(numbers[width - 1]);
    first = coarse ? code.labels + 1 : 0;
    begins = numbers[width - length] - first == (coarse ? code.groups : code.labels);
  }
  Index at(Index d) const { return numbers[width - 1 - d] - first; }  // from the end
  // The key of the last labels.
  Key find_key(Index count) const {
    Key key = coarse ? 2 : 1;
    for (Index d = count - 1; d >= 0; --d) key = mix(key, static_cast<Key>(at(d)));
    return key;
  }
  // Whether its last labels begin with the boundary.
  bool is_cut_off(Index count) const { return begins && count == length; }
};

// By the key of a sequence, what longer n-grams may add which end with it: 0, or
//
//   longer(s) = max over labels z of weight(z s) + longer(z s),
//
// from the longest sequences to the shortest. Where a sentence begins, an n-gram is cut off at the boundary, and counts
// again for each longer one; past the first positions there are only uncut ones.
template <class Number>
std::vector<float> NgramBounds::find_longer(const Number* rows, Index count, bool early) const {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  std::size_t size = 1;
  while (order_ > 1 && size < kRoom * static_cast<std::size_t>(count)) size *= 2;
  std::vector<float> longer(size);
  for (Index length = order_ + 1; length > 1; --length)
    for (Index i = 0; i < count; ++i) {
      const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
      if (row.length < length) continue;
      const Key key = row.find_key(length);
      float& more = longer[key & (size - 1)];
      if (row.is_cut_off(length) && length <= order_) {
        if (!early) continue;
        raise(more, static_cast<float>(order_ + 1 - length) * table_.at(key));
      }
      if (length > 2) raise(longer[row.find_key(length - 1) & (size - 1)], table_.at(key) + more);
    }
  return longer;
}

// Of each pair that sequences end with, the weight and what longer ones may add.
template <class Number, class Use>
void NgramBounds::visit_pairs(const Number* rows, Index count, const std::vector<float>& longer, const Use& use) const {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  for (Index i = 0; i < count; ++i) {
    const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
    const Key key = row.find_key(2);
    use(row, table_.at(key), longer[key & (longer.size() - 1)]);
  }
}

template <class Number>
void NgramBounds::tabulate(const Number* rows, Index count, const std::vector<float>& longer, Tables& tables) const {
  const bool merged = groups() < tagset_.groups;
  clear(tables, 0);
  visit_pairs(rows, count, longer, [&](const Row<Number>& row, float weight, float more) {
    if (row.coarse) {
      const std::size_t pair = tell(row.at(1)) * width_ + tell(row.at(0));
      const double sum = static_cast<double>(weight) + static_cast<double>(more);
      tables.coarse[pair] = merged ? std::max(tables.coarse[pair], sum) : sum;
      raise(tables.above_pair[pair], more);
    } else {
      raise(tables.ending[row.at(0)], weight + more), raise(tables.leaving[row.at(1)], weight + more);
    }
  });
}

// By one of the last two labels and the coarse tag of the other.
template <class Number>
void NgramBounds::find_beside(const Number* rows, Index count, const std::vector<float>& longer) {
  const Index L = tagset_.labels;
  const auto P = static_cast<std::size_t>(places());
  ending_after_.assign(ending_after_.size(), 0), leaving_to_.assign(leaving_to_.size(), 0);
  visit_pairs(rows, count, longer, [&](const Row<Number>& row, float weight, float more) {
    if (row.coarse) return;
    const Index y = row.at(0), before = row.at(1);
    if (y < L) raise(ending_after_[group_[before] * P + place_[y]], weight + more);
    if (before < L) raise(leaving_to_[group_[y] * P + place_[before]], weight + more);
  });
}

// By the last label or coarse tag alone.
template <class Number>
void NgramBounds::find_most_longer(const Number* rows, Index count, const std::vector<float>& longer) {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  most_longer_.assign(most_longer_.size(), 0), most_longer_tags_.assign(most_longer_tags_.size(), 0);
  for (Index i = 0; i < count; ++i) {
    const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
    float& most = (row.coarse ? most_longer_tags_ : most_longer_)[row.at(0)];
    for (Index length = 2; length <= std::min(row.length, order_); ++length)
      raise(most, longer[row.find_key(length) & (longer.size() - 1)]);
  }
}

template <class Number>
bool NgramBounds::use_sequences(const Number* rows, Index count) {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  std::vector<std::uint8_t> seen(table_.mask + 1, 0);
  for (Index i = 0; i < count; ++i) {
    const Key key = code.find_key(rows + i * (order_ + 1), order_ + 1);
    const std::size_t slot = table_.find(key);
    if (key == 0 || table_.keys[slot] == 0) return false;
    seen[slot] = 1;
  }
  for (std::size_t slot = 0; slot < seen.size(); ++slot)
    if ((table_.keys[slot] != 0) != (seen[slot] != 0)) return false;
  tabulate(rows, count, find_longer(rows, count, false), late_);
  const std::vector<float> longer = find_longer(rows, count, true);
  tabulate(rows, count, longer, early_);
  find_beside(rows, count, longer);
  find_most_longer(rows, count, longer);
  set_longer(longer);
  complete(early_), complete(late_);
  list_triples();
  return true;
}

template bool NgramBounds::use_sequences(const std::uint16_t*, Index);
template bool NgramBounds::use_sequences(const std::uint32_t*, Index);

}  // namespace certus::scoring
