#include "chain/model.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace certus {

struct WidenedModel {
  explicit WidenedModel(const Model<float>& model);

  std::vector<double> steps;  // where every position has a matrix, which the model does not copy
  std::unique_ptr<Model<double>> model;
};

template <class S>
Model<S>::Model(const S* data, Index labels, Index positions, bool shared, const S* start, const S* end)
    : labels_(labels), positions_(shared ? 0 : positions) {
  keep(start, end);
  if (shared) {
    const Index stride = padded(labels);
    matrix_pages_ = allocate_scores(labels * stride);
    matrix_ = scores_in(matrix_pages_);
    Heed heed;
    for (Index i = 0; i < labels; ++i, heed(labels)) {
      std::copy_n(data + i * labels, labels, matrix_ + i * stride);
      std::fill(matrix_ + i * stride + labels, matrix_ + (i + 1) * stride, kNever<S>);
    }
    dense_ = {matrix_, labels, stride, 0};
    magnitude_ = static_cast<double>(largest_magnitude(matrix_, labels * stride));
    if (labels <= kTransposed) across();
    find_sparsity();
  } else {
    dense_ = {data, labels, labels, labels * labels};
    magnitude_ = static_cast<double>(largest_magnitude(data, positions * labels * labels));
  }
}

template <class S>
Model<S>::Model(Index labels, S fallback, const Index* from, const Index* to, const S* score, Index entries,
                const S* start, const S* end)
    : labels_(labels), positions_(0), only_sparse_(true) {
  keep(start, end);
  std::vector<Entry> list(entries);
  for (Index n = 0; n < entries; ++n) list[n] = {static_cast<Label>(from[n]), static_cast<Label>(to[n]), score[n]};
  magnitude_ = static_cast<double>(std::max(largest_magnitude(score, entries), largest_magnitude(&fallback, 1)));
  build_sparse(fallback, list);
}

template <class S>
Model<S>::~Model() = default;

template <class S>
void Model<S>::keep(const S* start, const S* end) {
  if (start) start_.assign(start, start + labels_), note_ends(start, labels_);
  if (end) end_.assign(end, end + labels_), note_ends(end, labels_);
}

template <class S>
std::unique_ptr<Pages> Model<S>::transpose() const {
  const Index stride = padded(labels_);
  auto pages = std::make_unique<Pages>(allocate_scores(labels_ * stride));
  S* const out = scores_in(*pages);
  Heed heed;
  for (Index j = 0; j < labels_; ++j, heed(labels_)) {
    for (Index i = 0; i < labels_; ++i) out[j * stride + i] = matrix_[i * stride + j];
    std::fill(out + j * stride + labels_, out + (j + 1) * stride, kNever<S>);
  }
  return pages;
}

template <class S>
void Model<S>::find_sparsity() {
  if (labels_ < 32) return;
  std::vector<S> sample;
  const Index pairs = labels_ * labels_;
  for (Index n = 0; n < 255; ++n) {
    const Index pair = static_cast<Index>((static_cast<unsigned __int128>(n) * 0x9E3779B97F4A7C15ull) % pairs);
    sample.push_back(dense_.at(0, static_cast<Label>(pair / labels_), static_cast<Label>(pair % labels_)));
  }
  std::nth_element(sample.begin(), sample.begin() + 127, sample.end());
  const S common = sample[127];
  const Index most = static_cast<Index>(kSparse * static_cast<double>(pairs));
  std::vector<Entry> list;
  Heed heed;
  for (Label i = 0; i < labels_; ++i, heed(labels_))
    for (Label j = 0; j < labels_; ++j) {
      if (dense_.at(0, i, j) == common) continue;
      if (static_cast<Index>(list.size()) == most) return;
      list.push_back({i, j, dense_.at(0, i, j)});
    }
  build_sparse(common, list);
}

template <class S>
void Model<S>::build_sparse(S fallback, std::vector<Entry>& list) {
  mostly_default_ =
      static_cast<double>(list.size()) < kFew * static_cast<double>(labels_) * static_cast<double>(labels_);
  const auto fill = [&](auto first, auto second, std::vector<Index>& begin, std::vector<Label>& other,
                        std::vector<S>& score) {
    std::sort(list.begin(), list.end(), [&](const Entry& a, const Entry& b) {
      return first(a) != first(b) ? first(a) < first(b) : second(a) < second(b);
    });
    begin.assign(labels_ + 1, 0);
    for (const Entry& e : list) {
      ++begin[first(e) + 1];
      other.push_back(second(e));
      score.push_back(e.score);
    }
    for (Index n = 0; n < labels_; ++n) begin[n + 1] += begin[n];
  };
  const auto from = [](const Entry& e) { return e.from; };
  const auto to = [](const Entry& e) { return e.to; };
  fill(from, to, row_begin_, row_to_, row_score_);
  fill(to, from, column_begin_, column_from_, column_score_);
  sparse_ = {labels_,
             fallback,
             row_begin_.data(),
             row_to_.data(),
             row_score_.data(),
             column_begin_.data(),
             column_from_.data(),
             column_score_.data()};
}

template <class S>
auto Model<S>::find_ceiling() const -> std::unique_ptr<Ceiling> {
  const Index stride = padded(labels_);
  Pages pages = allocate_scores(labels_ * stride);
  S* const out = scores_in(pages);
  std::fill(out, out + labels_ * stride, kNever<S>);
  Heed heed;
  for (Index t = 0; t < positions_; ++t, heed(labels_ * labels_))
    for (Index i = 0; i < labels_; ++i)
      for (Index j = 0; j < labels_; ++j)
        out[i * stride + j] = std::max(out[i * stride + j], dense_.at(t, static_cast<Label>(i), static_cast<Label>(j)));
  return std::make_unique<Ceiling>(Ceiling{std::move(pages), {out, labels_, stride, 0}});
}

template <class S>
std::unique_ptr<Bounds<S>> Model<S>::find_bounds() const {
  auto made = std::make_unique<Bounds<S>>();
  Bounds<S>& bounds = *made;
  bounds.leave.assign(labels_, kNever<double>);
  bounds.enter.assign(labels_, kNever<double>);
  bounds.incoming.assign(labels_, kNever<double>);
  bounds.inside.assign(labels_, kNever<double>);
  bounds.outside.assign(labels_, kNever<double>);
  if (only_sparse_) sparse_bounds(bounds);
  else dense_bounds(ceiling(), bounds);
  const Index width = padded(labels_);
  bounds.enter_rounded.assign(width, kNever<S>);
  bounds.leave_rounded.assign(width, kNever<S>);
  bounds.incoming_rounded.assign(width, kNever<S>);
  bounds.inside_rounded.assign(width, kNever<S>);
  bounds.nothing.assign(width, kNever<S>);
  std::fill_n(bounds.nothing.begin(), labels_, S{0});
  for (Index y = 0; y < labels_; ++y) {
    const double enter = bounds.enter[y], leave = bounds.leave[y];
    bounds.enter_rounded[y] = static_cast<S>(enter);
    bounds.leave_rounded[y] = static_cast<S>(leave);
    bounds.incoming_rounded[y] = static_cast<S>(bounds.incoming[y]);
    bounds.add_up(y);
    if (std::isfinite(leave)) bounds.spread += (leave - bounds.mean) / static_cast<double>(labels_);
    if (std::isfinite(enter)) bounds.largest = std::max(bounds.largest, std::abs(enter));
    if (std::isfinite(leave)) bounds.largest = std::max(bounds.largest, std::abs(leave));
    if (std::isfinite(bounds.incoming[y])) bounds.largest = std::max(bounds.largest, std::abs(bounds.incoming[y]));
  }
  bound_blocks(bounds);
  return made;
}

template <class S>
void Model<S>::bound_blocks(Bounds<S>& bounds) const {
  const Index stride = padded(labels_), blocks = padded_blocks<S>(labels_);
  bounds.enter_most.assign(blocks, kNever<S>);
  for (Index c = 0; c < block_count<S>(labels_); ++c)
    bounds.enter_most[c] = largest(bounds.enter_rounded.data() + c * kBlock<S>, kBlock<S>);
  if (!matrix_) return;
  bounds.best_into_pages = allocate_scores(labels_ * blocks);
  bounds.best_into = scores_in(bounds.best_into_pages);
  std::fill_n(bounds.best_into, labels_ * blocks, kNever<S>);
  Heed heed;
  for (Index i = 0; i < labels_; ++i, heed(labels_))
    for (Index c = 0; c < block_count<S>(labels_); ++c)
      bounds.best_into[i * blocks + c] = largest(matrix_ + i * stride + c * kBlock<S>, kBlock<S>);
}

template <class S>
void Model<S>::dense_bounds(const Dense<S>& m, Bounds<S>& bounds) const {
  double sum = 0, finite = 0;
  Heed heed;
  for (Index i = 0; i < labels_; ++i, heed(2 * labels_)) {
    const S* row = m.row(0, static_cast<Label>(i), nullptr);
    const double leave = bounds.leave[i] = *std::max_element(row, row + labels_);
    if (leave == kNever<double>) continue;
    for (Index j = 0; j < labels_; ++j) {
      const double x = row[j];
      bounds.enter[j] = std::max(bounds.enter[j], x - leave);
      bounds.incoming[j] = std::max(bounds.incoming[j], x);
      if (x != kNever<double>) sum += x, ++finite;
    }
  }
  bounds.mean = finite ? sum / finite : 0;
}

template <class S>
void Model<S>::sparse_bounds(Bounds<S>& bounds) const {
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < labels_; ++i) {
    const Index begin = row_begin_[i], end = row_begin_[i + 1];
    double leave = end - begin < labels_ ? static_cast<double>(sparse_.fallback) : kNever<double>;
    for (Index n = begin; n < end; ++n) leave = std::max(leave, static_cast<double>(row_score_[n]));
    bounds.leave[i] = leave;
    if (leave != kNever<double>) least = std::min(least, leave);
  }
  bounds.mean = std::isfinite(sparse_.fallback) ? static_cast<double>(sparse_.fallback) : least;
  if (!std::isfinite(bounds.mean)) bounds.mean = 0;
  const double unlisted = static_cast<double>(sparse_.fallback) - least;
  for (Index j = 0; j < labels_; ++j) {
    double enter = std::isinf(least) ? kNever<double> : unlisted;
    for (Index n = column_begin_[j]; n < column_begin_[j + 1]; ++n)
      if (column_score_[n] != kNever<S>)
        enter = std::max(enter, static_cast<double>(column_score_[n]) - bounds.leave[column_from_[n]]);
    bounds.enter[j] = enter;
    const Index begin = column_begin_[j], end = column_begin_[j + 1];
    double incoming = end - begin < labels_ ? static_cast<double>(sparse_.fallback) : kNever<double>;
    for (Index n = begin; n < end; ++n) incoming = std::max(incoming, static_cast<double>(column_score_[n]));
    bounds.incoming[j] = incoming;
  }
}

template <class S>
auto Model<S>::find_weights() const -> std::unique_ptr<Weights> {
  auto made = std::make_unique<Weights>();
  Weights& w = *made;
  w.stride = labels_;
  w.value.resize(labels_ * labels_);
  std::vector<S> buffer(labels_);
  w.shift = kNever<double>;
  Heed heed;
  const auto each = [&](auto use) {
    for (Index i = 0; i < labels_; ++i, heed(4 * labels_)) {
      const Label from = static_cast<Label>(i);
      const S* row = only_sparse_ ? sparse_.row(0, from, buffer.data()) : dense_.row(0, from, nullptr);
      for (Index j = 0; j < labels_; ++j) use(i, j, static_cast<double>(row[j]));
    }
  };
  each([&](Index, Index, double x) { w.shift = std::max(w.shift, x); });
  if (w.shift == kNever<double>) w.shift = 0;
  each([&](Index i, Index j, double x) { w.value[i * labels_ + j] = std::exp(x - w.shift); });
  return made;
}

WidenedModel::WidenedModel(const Model<float>& narrow) {
  const Index L = narrow.labels(), positions = narrow.positions();
  const auto widen = [L](const float* row) { return row ? std::vector<double>(row, row + L) : std::vector<double>(); };
  const auto data_or_null = [](const std::vector<double>& row) { return row.empty() ? nullptr : row.data(); };
  const std::vector<double> start = widen(narrow.start()), end = widen(narrow.end());
  if (narrow.only_sparse()) {
    const Sparse<float>& listed = narrow.sparse();
    std::vector<Index> from, to;
    for (Index i = 0; i < L; ++i) from.insert(from.end(), listed.row_begin[i + 1] - listed.row_begin[i], i);
    const Index entries = static_cast<Index>(from.size());
    to.assign(listed.row_to, listed.row_to + entries);
    const std::vector<double> score(listed.row_score, listed.row_score + entries);
    model = std::make_unique<Model<double>>(L, static_cast<double>(listed.fallback), from.data(), to.data(),
                                            score.data(), entries, data_or_null(start), data_or_null(end));
  } else {
    const bool shared = positions == 0;
    const Index matrices = shared ? 1 : positions;
    steps.resize(matrices * L * L);
    Heed heed;
    for (Index t = 0; t < matrices; ++t)
      for (Index i = 0; i < L; ++i, heed(L))
        std::copy_n(narrow.dense().row(t, static_cast<Label>(i), nullptr), L, steps.data() + (t * L + i) * L);
    model = std::make_unique<Model<double>>(steps.data(), L, matrices, shared, data_or_null(start), data_or_null(end));
    if (shared) steps = {};
  }
  model->order = narrow.order;
}

template <class S>
const Model<double>& Model<S>::widened() const {
  if constexpr (std::is_same_v<S, double>) return *this;
  else return *widened_.get([this] { return std::make_unique<WidenedModel>(*this); }).model;
}

template class Model<float>;
template class Model<double>;

}  // namespace certus
