#include "scoring/ngram_bounds.hpp"

#include <cmath>
#include <limits>

namespace certus::scoring {
namespace {

constexpr std::size_t kMostWeights = std::size_t{1} << 18;  // in a table of three coarse tags
constexpr std::size_t kRoom = 4;   // how much larger tables by keys are while sequences share a place less often
constexpr Index kMostGroups = 64;  // that are told apart: their pairs are looked at one by one

void raise_to(float& x, float y) { x = std::max(x, y); }

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
  stride_ = static_cast<std::size_t>(pad_tags(static_cast<Index>(width_)));
  lay_out();
  // Until the sequences are known, each may have the largest weight.
  const float most = std::max(0.0f, *std::max_element(table.weights, table.weights + table.mask + 1));
  const float all = most * static_cast<float>(order), longer = all - most;
  const float least = std::min(0.0f, *std::min_element(table.weights, table.weights + table.mask + 1));
  heaviest_ = 2.0 * static_cast<double>(order) * static_cast<double>(std::max(most, -least));
  for (Tables* tables : {&early_, &late_}) {
    clear(*tables, all);
    std::fill(tables->above_pair.begin(), tables->above_pair.end(), longer);
  }
  set_longer({{longer, longer}});
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

void NgramBounds::set_longer(const std::vector<Longer>& longer) {
  float most = 0;
  for (const Longer& each : longer) raise_to(most, each.early);
  step_ = std::max(most / 254, std::numeric_limits<float>::min());
  longer_.assign(std::max<std::size_t>(longer.size() / kRoom, 1), 0);
  mask_ = longer_.size() - 1;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const float x = longer[i].early;
    if (!(x > 0)) continue;
    std::uint8_t& steps = longer_[i & mask_];
    steps = std::max(steps, static_cast<std::uint8_t>(std::min(std::ceil(x / step_) + 1, 255.0f)));
  }
}

void NgramBounds::clear(Tables& tables, float value) const {
  tables = {};
  tables.ending.assign(static_cast<std::size_t>(tagset_.labels) + 1, value), tables.leaving = tables.ending;
  tables.coarse.assign(width_ * stride_, kNever<double>);
  for (std::size_t g = 0; g < width_; ++g)
    std::fill_n(tables.coarse.begin() + static_cast<std::ptrdiff_t>(g * stride_), width_, static_cast<double>(value));
  tables.above_pair.assign(width_ * width_, value);
}

// Fills what follows from the other tables.
void NgramBounds::complete(Tables& tables) const {
  for (const Label y : label_) {
    tables.ending_place.push_back(y < 0 ? 0 : tables.ending[y]);
    tables.around.push_back(y < 0 ? 0 : tables.ending[y] + tables.leaving[y]);
  }
  for (auto* row : {&tables.ending_place, &tables.around}) row->resize(row->size() + kBlock, 0);
  for (auto* row : {&tables.most_ending, &tables.most_around}) row->assign(stride_, 0);
  for (Index g = 0; g < groups(); ++g)
    for (Index place = begin(g); place < begin(g + 1); ++place) {
      raise_to(tables.most_ending[g], tables.ending_place[place]);
      raise_to(tables.most_around[g], tables.around[place]);
    }
  find_group_pairs(tables);
}

// What labels may add, over all labels of a coarse tag.
void NgramBounds::find_group_pairs(Tables& tables) const {
  const auto transpose = [&](const std::vector<double>& table) {
    std::vector<double> turned(table.size(), kNever<double>);
    for (std::size_t g = 0; g < width_; ++g)
      for (std::size_t h = 0; h < width_; ++h) turned[h * stride_ + g] = table[g * stride_ + h];
    return turned;
  };
  tables.coarse_into = tables.departing_into = transpose(tables.coarse);
  tables.entering = tables.coarse;
  for (std::size_t g = 0; g < width_; ++g)
    for (Index h = 0; h < groups(); ++h) {
      const auto largest = [&](const std::vector<float>& rows) {
        const auto row = rows.begin() + static_cast<std::ptrdiff_t>(g) * places();
        return static_cast<double>(*std::max_element(row + begin(h), row + begin(h + 1)));
      };
      tables.entering[g * stride_ + static_cast<std::size_t>(h)] += largest(ending_after_);
      tables.departing_into[g * stride_ + static_cast<std::size_t>(h)] += largest(leaving_to_);
    }
  tables.entering_into = transpose(tables.entering);
  tables.most_into.assign(stride_, kNever<double>);
  for (std::size_t g = 0; g < width_; ++g) {
    const auto row = tables.coarse_into.begin() + static_cast<std::ptrdiff_t>(g * stride_);
    tables.most_into[g] = *std::max_element(row, row + static_cast<std::ptrdiff_t>(width_));
  }
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
};

// By the key of a sequence, what longer n-grams may add which end with it: 0, or
//
//   longer(s) = max over labels z of weight(z s) + longer(z s),
//
// from the longest sequences to pairs, which the tables are made of. Where a sentence begins, an n-gram is cut off at
// the boundary, and counts again for each longer one; past the first positions there are only uncut ones.
template <class Number>
void NgramBounds::find_longer(const Number* rows, Index count) {
  const SequenceCode code{tagset_.labels, tagset_.groups};
  std::size_t size = 1;
  while (order_ > 1 && size < kRoom * static_cast<std::size_t>(count)) size *= 2;
  std::vector<Longer> longer(size);
  std::vector<std::uint8_t> next(static_cast<std::size_t>(count));  // how many of its last labels are looked at next
  for (Index i = 0; i < count; ++i)
    next[i] = static_cast<std::uint8_t>(Row<Number>(rows + i * (order_ + 1), order_ + 1, code).length);
  for (Index length = order_ + 1; length > 1; --length)
    for (Index i = 0; i < count; ++i) {
      if (next[i] != length) continue;
      const Row<Number> row(rows + i * (order_ + 1), order_ + 1, code);
      const Key key = row.find_key(length);
      const float weight = table_.at(key);
      Longer& more = longer[key & (size - 1)];
      const bool is_cut_off = row.begins && row.length == length && length <= order_;
      if (is_cut_off) raise_to(more.early, static_cast<float>(order_ + 1 - length) * weight);
      if (length <= order_) raise_to((row.coarse ? most_longer_tags_ : most_longer_)[row.at(0)], more.early);
      if (length == 2) {
        add_pair(row, weight, more);
        continue;
      }
      const Key last = row.find_key(length - 1);
      Longer& shorter = longer[last & (size - 1)];
      raise_to(shorter.early, weight + more.early);
      if (!is_cut_off) raise_to(shorter.late, weight + more.late);
      if (!table_.has(last)) next[i] = static_cast<std::uint8_t>(length - 1);  // otherwise it has a row
    }
  set_longer(longer);
}

// Raises what is known of the last two labels, given their weight and what longer n-grams may add.
template <class Number>
void NgramBounds::add_pair(const Row<Number>& row, float weight, const Longer& more) {
  const Index L = tagset_.labels, y = row.at(0), before = row.at(1);
  const float early = weight + more.early, late = weight + more.late;
  if (row.coarse) {
    const bool merged = groups() < tagset_.groups;
    const std::size_t pair = tell(before) * width_ + tell(y);
    const auto set = [&](Tables& tables, float sum, float above) {
      double& coarse = tables.coarse[tell(before) * stride_ + tell(y)];
      coarse = std::max(merged ? coarse : kNever<double>, static_cast<double>(sum));  // otherwise there is no other
      raise_to(tables.above_pair[pair], above);
    };
    set(early_, early, more.early), set(late_, late, more.late);
    return;
  }
  raise_to(early_.ending[y], early), raise_to(early_.leaving[before], early);
  raise_to(late_.ending[y], late), raise_to(late_.leaving[before], late);
  const auto P = static_cast<std::size_t>(places());
  if (y < L) raise_to(ending_after_[group_[before] * P + place_[y]], early);
  if (before < L) raise_to(leaving_to_[group_[y] * P + place_[before]], early);
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
  clear(early_, 0), clear(late_, 0);
  for (auto* most : {&ending_after_, &leaving_to_, &most_longer_, &most_longer_tags_}) most->assign(most->size(), 0.0f);
  find_longer(rows, count);
  complete(early_), complete(late_);
  list_triples();
  return true;
}

template bool NgramBounds::use_sequences(const std::uint16_t*, Index);
template bool NgramBounds::use_sequences(const std::uint32_t*, Index);

}  // namespace certus::scoring
