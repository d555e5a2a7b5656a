// What is computed once from the transition scores and reused over sentences.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/interrupt.hpp"
#include "base/lazy.hpp"
#include "base/pages.hpp"
#include "base/simd.hpp"
#include "base/types.hpp"
#include "chain/transitions.hpp"

namespace certus {

// Potentials that bound the transitions: for every pair,
//   transition(i, j) <= leave[i] + enter[j],   where leave[i] is the best transition out of i, and enter[j] <= 0.
// So leave[i] bounds what the transition out of a label can add, whatever comes next.
template <class S>
struct Bounds {
  std::vector<double> enter, leave;             // [labels]
  std::vector<double> incoming;                 // [labels]: the best transition into a label
  std::vector<double> inside, outside;          // [labels]: incoming + leave, and enter + leave
  std::vector<S> enter_rounded, leave_rounded;  // enter and leave in the trellis's own precision, padded with -inf,
  std::vector<S> incoming_rounded;              // incoming likewise,
  std::vector<S> inside_rounded;                // and inside;
  std::vector<S> enter_most;                    // [blocks]: the largest of enter_rounded in each block;
  std::vector<S> nothing;                       // zeros, padded likewise, for where a sentence starts or ends
  // [labels][blocks]: the best transition from a label into each block, where one matrix serves all positions
  S* best_into = nullptr;
  Pages best_into_pages;
  double largest = 0;  // the largest finite magnitude among them
  double mean = 0;     // of the finite transitions, or nearly so,
  double spread = 0;   // and what the best transition out of a label exceeds it by on average

  // Sums for label y what other fields hold.
  void add_up(Index y) {
    inside[y] = incoming[y] + leave[y];
    outside[y] = enter[y] + leave[y];
    inside_rounded[y] = static_cast<S>(inside[y]);
  }
};

// The degenerate labels of staggered decoding; degenerate_labels.hpp computes and explains it.
template <class S>
struct DegenerateTables;

template <class S>
class Model {
 public:
  // `data` holds `positions` matrices [labels][labels] ("shared" when there is one for all positions), which
  // must outlive the model when they are per position. `start` and `end` may be null.
  Model(const S* data, Index labels, Index positions, bool shared, const S* start, const S* end)
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

  // Entries in any order, at most one per pair.
  Model(Index labels, S fallback, const Index* from, const Index* to, const S* score, Index entries, const S* start,
        const S* end)
      : labels_(labels), positions_(0), only_sparse_(true) {
    keep(start, end);
    std::vector<Entry> list(entries);
    for (Index n = 0; n < entries; ++n) list[n] = {static_cast<Label>(from[n]), static_cast<Label>(to[n]), score[n]};
    magnitude_ = static_cast<double>(std::max(largest_magnitude(score, entries), largest_magnitude(&fallback, 1)));
    build_sparse(fallback, list);
  }

  Index labels() const { return labels_; }
  Index positions() const { return positions_; }  // 0 where one matrix serves all
  const S* start() const { return start_.empty() ? nullptr : start_.data(); }
  const S* end() const { return end_.empty() ? nullptr : end_.data(); }

  // The largest magnitude of emissions with which nothing that solvers add up over `length` positions (paths, bounds on
  // them, differences of the two) leaves the range of `Sum`. It is negative where the transitions alone may.
  template <class Sum = S>
  S limit(Index length) const {
    const double each = leave_room<Sum>(length) / static_cast<double>(length);
    return static_cast<S>(std::clamp(each, -1.0, static_cast<double>(std::numeric_limits<S>::max())));
  }
  // Whether emissions that are moderate, with or without start and end scores, are well below that limit.
  bool allows_moderate(Index length) const {
    constexpr double moderate = static_cast<double>(kModerate<S>);
    return leave_room<S>(length) >= 4 * moderate * static_cast<double>(length) && ends_ < moderate;
  }

  bool only_sparse() const { return only_sparse_; }
  bool has_sparse() const { return !row_begin_.empty(); }
  // Whether all but a few pairs of labels share one score, or did when the model was made.
  bool mostly_default() const { return mostly_default_; }
  // Whether going through the listed pairs one by one beats the dense sweep: vectors do dozens of pairs at a time, and
  // half as fast where the matrix does not stay in the second-level cache.
  bool prefers_sparse() const {
    if (!has_sparse() || only_sparse_) return has_sparse();
    const double pairs = static_cast<double>(labels_) * static_cast<double>(labels_);
    return static_cast<double>(row_begin_[labels_]) <
           (pairs * sizeof(S) > double(1 << 20) ? kSparse : kSparseSmall) * pairs;
  }
  const Dense<S>& dense() const { return dense_; }
  const Sparse<S>& sparse() const { return sparse_; }
  // The padded transpose [to][from], made at once for label sets where it is small, else on first use:
  // `transposed` is null before that.
  const S* transposed() const {
    const Pages* const pages = transposed_.find();
    return pages ? scores_in(*pages) : nullptr;
  }
  const S* across() const {
    return scores_in(transposed_.get([this] { return transpose(); }));
  }

  // A matrix that is nowhere below the transitions of any position: themselves where they are shared.
  const Dense<S>& ceiling() const {
    if (only_sparse_ || positions_ == 0) return dense_;
    return ceiling_.get([this] { return find_ceiling(); }).matrix;
  }
  const Bounds<S>& bounds() const {
    return bounds_.get([this] { return find_bounds(); });
  }

  // Made by degenerate_labels.hpp on first use. `order` is the user's ranking of labels, most probable first, or empty.
  std::vector<Label> order;
  Lazy<std::shared_ptr<DegenerateTables<S>>> degenerate;

  // exp(transition - shift) and its shift: what marginals need.
  struct Weights {
    std::vector<double> value;
    Index stride = 0;
    double shift = 0;
  };
  const Weights& weights() const {
    return weights_.get([this] { return find_weights(); });
  }

  // Learning changes scores one by one. The bounds stay valid, if less and less tight, until `tighten`; nothing else
  // that is prepared is kept up to date. So `auto`, dense Viterbi and CarpeDiem may decode with a model that changes,
  // and staggered decoding where search/changing_labels.hpp is told of every change.
  void set(Label i, Label j, S score) {
    const Index stride = padded(labels_);
    matrix_[i * stride + j] = score;
    if (const Pages* across = transposed_.find()) scores_in(*across)[j * stride + i] = score;
    row_begin_.clear();
    Bounds<S>& known = bounds_.get([this] { return find_bounds(); });
    const double leave = known.leave[i] = std::max(known.leave[i], static_cast<double>(score));
    known.enter[j] = std::max(known.enter[j], static_cast<double>(score) - leave);
    known.incoming[j] = std::max(known.incoming[j], static_cast<double>(score));
    known.leave_rounded[i] = static_cast<S>(leave);
    known.enter_rounded[j] = static_cast<S>(known.enter[j]);
    known.incoming_rounded[j] = static_cast<S>(known.incoming[j]);
    for (const Label y : {i, j}) known.add_up(y);
    S& enter_most = known.enter_most[j / kBlock<S>];
    enter_most = std::max(enter_most, known.enter_rounded[j]);
    S& best = known.best_into[i * padded_blocks<S>(labels_) + j / kBlock<S>];
    best = std::max(best, score);
    known.largest = std::max(known.largest, std::abs(static_cast<double>(score)) + std::abs(leave));
    magnitude_ = std::max(magnitude_, static_cast<double>(largest_magnitude(&score, 1)));
    ++changes_;
  }
  void set_start(Label y, S score) { start_[y] = score, note_ends(&score, 1); }
  void set_end(Label y, S score) { end_[y] = score, note_ends(&score, 1); }
  Index changes() const { return changes_; }  // since the bounds were tight
  void tighten() {
    if (Bounds<S>* const known = bounds_.find()) *known = std::move(*find_bounds());
    changes_ = 0;
  }

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

 private:
  static constexpr Index kTransposed = 1024;
  static constexpr double kSparse = 0.12;       // at most this share of listed pairs makes the sparse path worth it,
  static constexpr double kSparseSmall = 0.01;  // or this for small label sets
  static constexpr double kFew = 0.02;

  struct Entry {
    Label from, to;
    S score;
  };

  void keep(const S* start, const S* end) {
    if (start) start_.assign(start, start + labels_), note_ends(start, labels_);
    if (end) end_.assign(end, end + labels_), note_ends(end, labels_);
  }
  // What transitions, start and end leave of the range for the emissions of a sentence.
  template <class Sum>
  double leave_room(Index length) const {
    constexpr double kHeadroom = 16, range = static_cast<double>(std::numeric_limits<Sum>::max()) / kHeadroom;
    return range - static_cast<double>(length - 1) * magnitude_ - ends_;
  }
  void note_ends(const S* scores, Index count) {
    ends_ = std::max(ends_, 2 * static_cast<double>(largest_magnitude(scores, count)));
  }

  // Every table has memory of its own: several may be made at once.
  static Pages allocate_scores(Index count) { return allocate(static_cast<std::size_t>(count) * sizeof(S)); }
  static S* scores_in(const Pages& pages) { return reinterpret_cast<S*>(pages.get()); }

  std::unique_ptr<Pages> transpose() const {
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

  // Looks for one score that most pairs share, among a few hundred of them, then counts.
  void find_sparsity() {
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

  void build_sparse(S fallback, std::vector<Entry>& list) {
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

  struct Ceiling {
    Pages pages;
    Dense<S> matrix;
  };
  std::unique_ptr<Ceiling> find_ceiling() const {
    const Index stride = padded(labels_);
    Pages pages = allocate_scores(labels_ * stride);
    S* const out = scores_in(pages);
    std::fill(out, out + labels_ * stride, kNever<S>);
    Heed heed;
    for (Index t = 0; t < positions_; ++t, heed(labels_ * labels_))
      for (Index i = 0; i < labels_; ++i)
        for (Index j = 0; j < labels_; ++j)
          out[i * stride + j] =
              std::max(out[i * stride + j], dense_.at(t, static_cast<Label>(i), static_cast<Label>(j)));
    return std::make_unique<Ceiling>(Ceiling{std::move(pages), {out, labels_, stride, 0}});
  }

  std::unique_ptr<Bounds<S>> find_bounds() const {
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
  // What is known of transitions into blocks of labels.
  void bound_blocks(Bounds<S>& bounds) const {
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

  void dense_bounds(const Dense<S>& m, Bounds<S>& bounds) const {
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

  // The score shared by the unlisted pairs is bounded over all rows, listed or not: never below the truth.
  void sparse_bounds(Bounds<S>& bounds) const {
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

  std::unique_ptr<Weights> find_weights() const {
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

  Index labels_, positions_, changes_ = 0;
  double magnitude_ = 0;  // the largest finite one of the transitions,
  double ends_ = 0;       // and twice that of start and end
  bool only_sparse_ = false, mostly_default_ = false;
  Pages matrix_pages_;
  S* matrix_ = nullptr;
  std::vector<S> start_, end_;
  Dense<S> dense_{};
  Sparse<S> sparse_{};
  std::vector<Index> row_begin_, column_begin_;
  std::vector<Label> row_to_, column_from_;
  std::vector<S> row_score_, column_score_;
  Lazy<Pages> transposed_;
  Lazy<Ceiling> ceiling_;
  Lazy<Bounds<S>> bounds_;
  Lazy<Weights> weights_;
};

}  // namespace certus
