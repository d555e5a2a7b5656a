#include "learn/crf/layout.hpp"

#include <algorithm>

#include "base/exponential.hpp"

namespace certus::learn {

CrfLayout::CrfLayout(Index labels, const std::vector<Index>& row_begin, const std::vector<Label>& row_label,
                     const std::vector<unsigned char>& linked)
    : labels_(labels), width_(whole_vectors(labels)), rows_(row_begin.size() - 1), linked_(linked) {
  // A vector of eight labels is added about as fast as two labels one by one.
  const auto dense = [&](Index count) { return 4 * count >= width_; };
  const Index features = static_cast<Index>(rows_.size());
  hole_begin_.push_back(0);
  for (Index f = 0; f < features; ++f) {
    const Label *listed = row_label.data() + row_begin[f], *end = row_label.data() + row_begin[f + 1];
    if (listed == end || !dense(end - listed)) continue;
    rows_[f] = {listed_, static_cast<Label>(width_), true};
    for (Index y = 0; y < width_; ++y) {
      if (listed != end && *listed == y) ++listed;
      else holes_.push_back(listed_ + y);
    }
    listed_ += width_;
    hole_begin_.push_back(static_cast<Index>(holes_.size()));
  }
  transitions_ = listed_;
  for (Index f = 0; f < features; ++f) {
    const Index count = row_begin[f + 1] - row_begin[f];
    if (rows_[f].dense) continue;
    rows_[f] = {transitions_, static_cast<Label>(count), false};
    label_.insert(label_.end(), row_label.begin() + row_begin[f], row_label.begin() + row_begin[f + 1]);
    transitions_ += count;
  }
  for (Index i = 0; i < labels_ && !linked_.empty(); ++i)
    for (Index j = 0; j < width_; ++j)
      if (j >= labels_ || !linked_[i * labels_ + j]) holes_.push_back(transitions_ + i * width_ + j);
}

Index CrfLayout::state(Index feature, Label y) const {
  const Row& r = rows_[feature];
  if (r.dense) {
    const Index dense = r.begin / width_, at = r.begin + y;
    const auto begin = holes_.begin() + hole_begin_[dense], end = holes_.begin() + hole_begin_[dense + 1];
    return std::binary_search(begin, end, at) ? -1 : at;
  }
  const Label *begin = listed(r), *end = begin + r.count, *found = std::lower_bound(begin, end, y);
  return found != end && *found == y ? r.begin + (found - begin) : -1;
}

CrfInput::CrfInput(const CrfLayout& layout, const Corpus& corpus, Index first, Index last) {
  const Index from = corpus.sentence[first], to = corpus.sentence[last];
  for (Index s = first; s <= last; ++s) sentence_begin.push_back(corpus.sentence[s] - from);
  const bool valued = !corpus.values.empty();
  begin.reserve(to - from + 1);
  middle.reserve(to - from);
  index.reserve(corpus.token[to] - corpus.token[from]);
  if (valued) value.reserve(index.capacity());
  begin.push_back(0);
  for (Index t = from; t < to; ++t) {
    for (const bool dense : {true, false}) {
      for (Index n = corpus.token[t]; n < corpus.token[t + 1]; ++n) {
        const CrfLayout::Row& row = layout.row(corpus.features[n]);
        if (row.dense != dense || row.count == 0 || (valued && corpus.values[n] == 0)) continue;
        index.push_back(dense ? static_cast<Feature>(row.begin / layout.width()) : corpus.features[n]);
        if (valued) value.push_back(corpus.values[n]);
      }
      (dense ? middle : begin).push_back(static_cast<Index>(index.size()));
    }
  }
}

namespace {

// N vectors of sums stay in registers while the rows go by.
template <int N>
CERTUS_INLINE void add_tile(const double* rows, Index width, const std::uint32_t* which, const double* value,
                            Index count, double* sum) {
  Vec own[N] = {};
  for (Index n = 0; n < count; ++n) {
    const double* from = rows + static_cast<Index>(which[n]) * width;
    if (value)
      for (int k = 0; k < N; ++k) own[k] += value[n] * load(from + k * kLanes);
    else
      for (int k = 0; k < N; ++k) own[k] += load(from + k * kLanes);
  }
  for (int k = 0; k < N; ++k) store(sum + k * kLanes, load(sum + k * kLanes) + own[k]);
}

}  // namespace

CERTUS_CLONES void crf_add_rows(const double* rows, Index width, const std::uint32_t* which, const double* value,
                                Index count, double* sum) {
  Index j = 0;
  for (; j + 4 * kLanes <= width; j += 4 * kLanes) add_tile<4>(rows + j, width, which, value, count, sum + j);
  const Index left = (width - j) / kLanes;
  if (left == 3) add_tile<3>(rows + j, width, which, value, count, sum + j);
  else if (left == 2) add_tile<2>(rows + j, width, which, value, count, sum + j);
  else if (left == 1) add_tile<1>(rows + j, width, which, value, count, sum + j);
}

void crf_score(const CrfLayout& layout, const double* w, const CrfInput& input, Index token, double* scores) {
  const Index begin = input.begin[token], middle = input.middle[token], end = input.begin[token + 1];
  const double* value = input.value.empty() ? nullptr : input.value.data();
  std::fill_n(scores, layout.width(), 0.0);
  crf_add_rows(w, layout.width(), input.index.data() + begin, value ? value + begin : nullptr, middle - begin, scores);
  for (Index n = middle; n < end; ++n) {
    const CrfLayout::Row& row = layout.row(input.index[n]);
    const Label* label = layout.listed(row);
    const double* from = w + row.begin;
    const double x = value ? value[n] : 1.0;
    for (Label k = 0; k < row.count; ++k) scores[label[k]] += x * from[k];
  }
}

}  // namespace certus::learn
