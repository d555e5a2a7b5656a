#include "scoring/ngram_bounds.hpp"

#include <cmath>
#include <limits>

namespace certus::scoring {
namespace {

constexpr std::size_t kMostWeights = std::size_t{1} << 18;  // in a table of three coarse tags
constexpr Index kMostGroups = 64;                           // that are told apart: their pairs are looked at one by one

void raise(float& x, float y) { x = std::max(x, y); }

}  // namespace

// The largest weight of an n-gram of m + 1 labels that has a label at its end (d = 0), or before that (d = 1).
class NgramBounds::Maxima {
 public:
  Maxima(Index order, Index labels, float start) : labels_(labels), order_(order) {
    largest_.assign(static_cast<std::size_t>(order * 2 * (labels + 1)), start);
  }
  float& at(Index m, Index d, Index y) { return largest_[((m - 1) * 2 + d) * (labels_ + 1) + y]; }
  float at(Index m, Index d, Index y) const { return largest_[((m - 1) * 2 + d) * (labels_ + 1) + y]; }
  float sum(Index d, Index y) const {
    float sum = 0;
    for (Index m = 1; m <= order_; ++m) sum += at(m, d, y);
    return sum;
  }

 private:
  Index labels_, order_;
  std::vector<float> largest_;  // [order][2][labels + 1]
};

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
  const Maxima labels(order, tagset.labels, most);
  const std::vector<float> pairs(static_cast<std::size_t>(order) * width_ * width_, most);
  tabulate(labels, pairs, early_);
  tabulate(labels, pairs, late_);
  set_longer({most * static_cast<float>(order - 1)});
  ending_after_.assign(width_ * static_cast<std::size_t>(places()), most * static_cast<float>(order));
  leaving_to_ = ending_after_;
  find_group_pairs(early_), find_group_pairs(late_);
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
  mask_ = longer.size() - 1;
  longer_.clear();
  for (const float x : longer)
    longer_.push_back(static_cast<std::uint8_t>(std::min(std::ceil(x / step_) + (x > 0), 255.0f)));
}

void NgramBounds::tabulate(const Maxima& labels, const std::vector<float>& pairs, Tables& tables) const {
  const Index L = tagset_.labels;
  tables = {};
  for (Index y = 0; y <= L; ++y) {
    tables.ending.push_back(labels.sum(0, y));
    tables.leaving.push_back(labels.sum(1, y));
  }
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
  const std::size_t size = width_ * width_;
  tables.above_pair.assign(size, 0);
  for (std::size_t m = 1; m < static_cast<std::size_t>(order_); ++m)
    for (std::size_t i = 0; i < size; ++i) tables.above_pair[i] += pairs[m * size + i];
  for (std::size_t i = 0; i < size; ++i)
    tables.coarse.push_back(static_cast<double>(tables.above_pair[i]) + static_cast<double>(pairs[i]));
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
};

// For each order the largest weights of sequences by what they end with, added up. Sequences that begin with the
// boundary count as longer ones, too.
template <class Number>
void NgramBounds::find_longer(const Number* rows, Index count) {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  std::size_t size = 1;
  while (order_ > 1 && size < static_cast<std::size_t>(count)) size *= 2;
  std::vector<float> largest(size), longer(size);
  for (Index m = 2; m <= order_; ++m) {
    std::fill(largest.begin(), largest.end(), 0.0f);
    for (Index i = 0; i < count; ++i) {
      const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
      if (row.length > m + 1 || (row.length < m + 1 && !row.begins)) continue;
      const float weight = table_.weights[table_.find(code.find_key(row.numbers, order_ + 1))];
      for (Index length = 2; weight > 0 && length <= std::min(row.length, m); ++length) {
        Key key = row.coarse ? 2 : 1;
        for (Index d = length - 1; d >= 0; --d) key = mix(key, static_cast<Key>(row.at(d)));
        raise(largest[key & (size - 1)], weight);
      }
    }
    for (std::size_t i = 0; i < size; ++i) longer[i] += largest[i];
  }
  set_longer(longer);
}

// For each order the largest weights of sequences by one of their last two labels and the coarse tag of the other.
template <class Number>
void NgramBounds::find_beside(const Number* rows, Index count) {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  const Index L = tagset_.labels, P = places();
  ending_after_.assign(ending_after_.size(), 0), leaving_to_.assign(leaving_to_.size(), 0);
  std::vector<float> ending(ending_after_.size()), leaving(leaving_to_.size());
  for (Index m = 1; m <= order_; ++m) {
    std::fill(ending.begin(), ending.end(), 0.0f), std::fill(leaving.begin(), leaving.end(), 0.0f);
    for (Index i = 0; i < count; ++i) {
      const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
      if (row.coarse || row.length > m + 1 || (row.length < m + 1 && !row.begins)) continue;
      const float weight = table_.weights[table_.find(code.find_key(row.numbers, order_ + 1))];
      const Index y = row.at(0), before = row.at(1);
      if (y < L) raise(ending[group_[before] * static_cast<std::size_t>(P) + place_[y]], weight);
      if (before < L) raise(leaving[group_[y] * static_cast<std::size_t>(P) + place_[before]], weight);
    }
    for (std::size_t i = 0; i < ending.size(); ++i) ending_after_[i] += ending[i], leaving_to_[i] += leaving[i];
  }
}

template <class Number>
bool NgramBounds::use_sequences(const Number* rows, Index count) {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  const std::size_t size = width_ * width_;
  const bool merged = groups() < tagset_.groups;
  std::vector<std::uint8_t> seen(table_.mask + 1, 0);
  Maxima largest[2] = {{order_, tagset_.labels, 0}, {order_, tagset_.labels, 0}};  // late, early
  std::vector<float> pairs[2];                                                     // [order][groups + 1]²
  for (auto& table : pairs) table.assign(static_cast<std::size_t>(order_) * size, 0);
  for (Index i = 0; i < count; ++i) {
    const Key key = code.find_key(rows + i * (order_ + 1), order_ + 1);
    const std::size_t slot = table_.find(key);
    if (key == 0 || table_.keys[slot] == 0) return false;
    seen[slot] = 1;
    const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
    for (Index m = row.length - 1; m <= (row.begins ? order_ : row.length - 1); ++m)
      for (Index early = m >= row.length; early < 2; ++early) {
        for (Index d = 0; !row.coarse && d < 2; ++d) raise(largest[early].at(m, d, row.at(d)), table_.weights[slot]);
        if (!row.coarse) continue;
        float& pair = pairs[early][static_cast<std::size_t>(m - 1) * size + tell(row.at(1)) * width_ + tell(row.at(0))];
        if (m == 1 && !merged) pair = table_.weights[slot];  // the only one
        else raise(pair, table_.weights[slot]);
      }
  }
  for (std::size_t slot = 0; slot < seen.size(); ++slot)
    if ((table_.keys[slot] != 0) != (seen[slot] != 0)) return false;
  tabulate(largest[0], pairs[0], late_);
  tabulate(largest[1], pairs[1], early_);
  find_longer(rows, count);
  find_beside(rows, count);
  find_group_pairs(early_), find_group_pairs(late_);
  list_triples();
  return true;
}

template bool NgramBounds::use_sequences(const std::uint16_t*, Index);
template bool NgramBounds::use_sequences(const std::uint32_t*, Index);

}  // namespace certus::scoring
