// One step of the sum over paths, in log space and double, over either kind of transitions:
//   forward(t, x, out)    out[j] = log sum_i exp(x[i] + transition(t, i, j))
//   backward(t, x, out)   out[i] = log sum_j exp(transition(t, i, j) + x[j])
//   column(t, j, out)     out[i] = transition(t, i, j)
// where the largest x is 0.
//
// The sums are taken over exp(x) and exp(transition), which is fast and accurate but for sums that come out below
// kTiny: there, terms may have been lost to underflow, and the sum is taken again relative to its largest term.
#pragma once

#include <cmath>

#include "base/arena.hpp"
#include "base/sums.hpp"
#include "chain/model.hpp"

namespace certus {

inline constexpr double kTiny = 1e-280;

template <class S>
class DenseSums {
 public:
  DenseSums(const Model<S>& model, Arena& arena)
      : model_(model), arena_(arena), weights_(model.positions() ? nullptr : &model.weights()) {}

  void forward(Index t, const double* x, double* out) {
    if (weights_) {
      exponentiate(x);
      std::fill(sum_, sum_ + tr_.labels, 0.0);
      accumulate_rows(sum_, linear_, weights_->value.data(), tr_.labels, weights_->stride, tr_.labels);
    }
    const Index left = settle(out);
    if (left) forward_again(t, x, out, left);
  }

  void backward(Index t, const double* x, double* out) {
    if (weights_) {
      exponentiate(x);
      dot_rows(sum_, linear_, weights_->value.data(), tr_.labels, weights_->stride, tr_.labels);
    }
    const Index left = settle(out);
    for (Index n = 0; n < left; ++n) {
      const S* row = tr_.row(t, again_[n], nullptr);
      const double most = max_sum(row, x, tr_.labels);
      double sum = 0;
      if (most != kNever<double>)
        for (Index j = 0; j < tr_.labels; ++j) sum += std::exp(static_cast<double>(row[j]) + x[j] - most);
      out[again_[n]] = sum > 0 ? most + std::log(sum) : kNever<double>;
    }
  }

  void column(Index t, Label j, double* out) const {
    const S* across = tr_.step ? nullptr : model_.transposed();
    if (across) across += j * padded(tr_.labels);
    for (Label i = 0; i < tr_.labels; ++i) out[i] = static_cast<double>(across ? across[i] : tr_.at(t, i, j));
  }

 private:
  void exponentiate(const double* x) {
    for (Index i = 0; i < tr_.labels; ++i) linear_[i] = std::exp(x[i]);
  }

  // Takes the logarithms of the sums that can be trusted and lists the others in `again`; returns how many.
  Index settle(double* out) {
    Index left = 0;
    for (Label y = 0; y < tr_.labels; ++y) {
      if (weights_ && sum_[y] >= kTiny) out[y] = std::log(sum_[y]) + weights_->shift;
      else again_[left++] = y;
    }
    return left;
  }

  // Row by row, since columns are far apart in memory: the largest terms first, then the sums.
  void forward_again(Index t, const double* x, double* out, Index left) {
    std::fill(most_, most_ + tr_.labels, kNever<double>);
    Heed heed;
    for (Label i = 0; i < tr_.labels; ++i, heed(tr_.labels))
      if (x[i] != kNever<double>) raise(most_, x[i], tr_.row(t, i, nullptr), tr_.labels);
    Index finite = 0;
    for (Index n = 0; n < left; ++n) {
      const Label j = again_[n];
      out[j] = kNever<double>;
      sum_[j] = 0;
      if (most_[j] != kNever<double>) again_[finite++] = j;
    }
    for (Label i = 0; finite && i < tr_.labels; ++i, heed(16 * finite)) {
      if (x[i] == kNever<double>) continue;
      const S* row = tr_.row(t, i, nullptr);
      for (Index n = 0; n < finite; ++n) {
        const Label j = again_[n];
        sum_[j] += std::exp(x[i] + static_cast<double>(row[j]) - most_[j]);
      }
    }
    for (Index n = 0; n < finite; ++n) out[again_[n]] = most_[again_[n]] + std::log(sum_[again_[n]]);
  }

  const Model<S>& model_;
  Arena& arena_;
  const Dense<S>& tr_ = model_.dense();
  const typename Model<S>::Weights* weights_;        // null where positions have matrices of their own
  double* linear_ = arena_.get<double>(tr_.labels);  // exp(x)
  double *sum_ = arena_.get<double>(tr_.labels), *most_ = arena_.get<double>(tr_.labels);
  Label* again_ = arena_.get<Label>(tr_.labels);
};

// A sum in twice the precision, so that what is left after taking a part away is still accurate (Knuth's two-sum).
struct Accurate {
  double high = 0, low = 0;

  void add(double x) {
    const double sum = high + x, part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  double minus(const Accurate& other) const { return (high - other.high) + (low - other.low); }
};

// The mass of the unlisted pairs is the whole mass less that of the listed ones: entries, never L x L.
template <class S>
class SparseSums {
 public:
  SparseSums(const Model<S>& model, Arena& arena)
      : tr_(model.sparse()), linear_(arena.get<double>(tr_.labels)), live_(arena.get<Label>(tr_.labels)) {
    const Index entries = tr_.row_begin[tr_.labels];
    const S largest = entries ? *std::max_element(tr_.row_score, tr_.row_score + entries) : kNever<S>;
    shift_ = static_cast<double>(std::max(largest, tr_.fallback));
    if (shift_ == kNever<double>) shift_ = 0;
    fallback_ = std::exp(static_cast<double>(tr_.fallback) - shift_);
    const double* by_row = exponentiate(tr_.row_score, entries, arena);
    const double* by_column = exponentiate(tr_.column_score, entries, arena);
    rows_ = {tr_.row_begin, tr_.row_to, tr_.row_score, by_row};
    columns_ = {tr_.column_begin, tr_.column_from, tr_.column_score, by_column};
  }

  void forward(Index, const double* x, double* out) { step(columns_, x, out); }
  void backward(Index, const double* x, double* out) { step(rows_, x, out); }
  void column(Index, Label j, double* out) const {
    std::fill(out, out + tr_.labels, static_cast<double>(tr_.fallback));
    for (Index n = tr_.column_begin[j]; n < tr_.column_begin[j + 1]; ++n)
      out[tr_.column_from[n]] = static_cast<double>(tr_.column_score[n]);
  }

 private:
  struct Lists {  // the entries of each target
    const Index* begin;
    const Label* other;
    const S* score;
    const double* weight;  // exp(score - shift)
  };

  const double* exponentiate(const S* score, Index entries, Arena& arena) const {
    double* out = arena.get<double>(entries);
    for (Index n = 0; n < entries; ++n) out[n] = std::exp(static_cast<double>(score[n]) - shift_);
    return out;
  }

  void step(const Lists& lists, const double* x, double* out) {
    const bool shared = tr_.fallback != kNever<S>;
    Accurate all;
    lived_ = 0;
    for (Label i = 0; i < tr_.labels; ++i) {
      all.add(linear_[i] = std::exp(x[i]));
      if (x[i] != kNever<double>) live_[lived_++] = i;
    }
    for (Label y = 0; y < tr_.labels; ++y) {
      Accurate mass;
      double listed = 0;
      for (Index n = lists.begin[y]; n < lists.begin[y + 1]; ++n) {
        const double p = linear_[lists.other[n]];
        if (shared) mass.add(p);
        listed += p * lists.weight[n];
      }
      const double unlisted = all.minus(mass), sum = fallback_ * unlisted + listed;
      // Accurate keeps some 27 digits: what is left of them must be enough, or not matter.
      const bool sure = !shared || unlisted > 1e-13 * all.high || listed > 1e-12 * fallback_ * all.high;
      if (sum >= kTiny && sure) out[y] = std::log(sum) + shift_;
      else out[y] = again(lists, y, x, unlisted > 1e-13 * all.high ? unlisted : -1);
    }
  }

  // The two parts apart, each relative to its largest term. `unlisted` is negative where it is not known.
  double again(const Lists& lists, Label y, const double* x, double unlisted) const {
    const double others = static_cast<double>(tr_.fallback);
    const Index begin = lists.begin[y], end = lists.begin[y + 1];
    const auto from_entries = [&](const auto& use) {
      for (Index n = begin; n < end; ++n) use(x[lists.other[n]] + static_cast<double>(lists.score[n]));
    };
    const auto from_others = [&](const auto& use) {
      Index n = begin;
      for (Index r = 0; r < lived_; ++r) {
        while (n < end && lists.other[n] < live_[r]) ++n;
        if (n == end || lists.other[n] != live_[r]) use(x[live_[r]] + others);
      }
    };
    const double a = log_sum(from_entries);
    if (others == kNever<double>) return a;
    const double b = unlisted > 0 ? others + std::log(unlisted) : log_sum(from_others);
    const double most = std::max(a, b);
    return most == kNever<double> ? most : most + std::log(std::exp(a - most) + std::exp(b - most));
  }

  template <class Terms>
  static double log_sum(const Terms& terms) {
    double most = kNever<double>, sum = 0;
    terms([&](double x) { most = std::max(most, x); });
    if (most == kNever<double>) return most;
    terms([&](double x) { sum += std::exp(x - most); });
    return most + std::log(sum);
  }

  const Sparse<S>& tr_;
  double shift_, fallback_;  // the largest score; exp(fallback - shift)
  Lists rows_, columns_;
  double* linear_;  // [L]: exp(x)
  Label* live_;     // [lived]: the labels with a finite x, increasing
  Index lived_ = 0;
};

}  // namespace certus
