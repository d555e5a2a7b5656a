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

struct WidenedModel;  // see Model::widened

template <class S>
class Model {
 public:
  // `data` holds `positions` matrices [labels][labels] ("shared" when there is one for all positions), which
  // must outlive the model when they are per position. `start` and `end` may be null.
  Model(const S* data, Index labels, Index positions, bool shared, const S* start, const S* end);

  // Entries in any order, at most one per pair.
  Model(Index labels, S fallback, const Index* from, const Index* to, const S* score, Index entries, const S* start,
        const S* end);
  ~Model();

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

  // This model in double precision, for methods that have no other: made on first use, and not kept up to date.
  const Model<double>& widened() const;

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

  void keep(const S* start, const S* end);
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

  std::unique_ptr<Pages> transpose() const;

  // Looks for one score that most pairs share, among a few hundred of them, then counts.
  void find_sparsity();

  void build_sparse(S fallback, std::vector<Entry>& list);

  struct Ceiling {
    Pages pages;
    Dense<S> matrix;
  };
  std::unique_ptr<Ceiling> find_ceiling() const;

  std::unique_ptr<Bounds<S>> find_bounds() const;
  // What is known of transitions into blocks of labels.
  void bound_blocks(Bounds<S>& bounds) const;

  void dense_bounds(const Dense<S>& m, Bounds<S>& bounds) const;

  // The score shared by the unlisted pairs is bounded over all rows, listed or not: never below the truth.
  void sparse_bounds(Bounds<S>& bounds) const;

  std::unique_ptr<Weights> find_weights() const;

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
  Lazy<WidenedModel> widened_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace certus
