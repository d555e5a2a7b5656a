#include "relax/parts/bigram_chain.hpp"

#include <algorithm>

namespace certus::relax {
namespace {

std::vector<double> join(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> all(first);
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

}  // namespace

BigramChainPart::BigramChainPart(const Model<double>& model, const std::vector<double>& emissions,
                                 const std::vector<double>& pairs, std::vector<double> start, std::vector<double> end)
    : Part(join(emissions, pairs)),
      model_(model),
      width_(model.labels()),
      length_(width_ ? static_cast<Index>(emissions.size()) / width_ : 0),
      start_(std::move(start)),
      end_(std::move(end)),
      forward_(emissions.size()),
      backward_(emissions.size()),
      labels_(length_) {
  for (Index t = 0; t < length_; ++t) add_group(t * width_, (t + 1) * width_, true);
  for (Index t = 0; t + 1 < length_; ++t)
    add_group((length_ + t * width_) * width_, (length_ + (t + 1) * width_) * width_, true);
}

double BigramChainPart::score() const {
  const LocalArena arena;
  const auto add = [&](const auto& transitions) {
    return Trellis(scores_.data(), length_, width_, model_, transitions, arena).score(labels_.data());
  };
  return model_.only_sparse() ? add(model_.sparse()) : add(model_.dense());
}

void BigramChainPart::run_forward() {
  for (Index l = 0; l < width_; ++l) forward_[l] = start_[l] + label(0)[l];
  for (Index t = 1; t < length_; ++t) {
    heed_(width_ * width_);
    const double* before = &forward_[(t - 1) * width_];
    double* now = &forward_[t * width_];
    std::fill_n(now, width_, kNever<double>);
    for (Index k = 0; k < width_; ++k) {
      const double* row = pair(t - 1) + k * width_;
      for (Index l = 0; l < width_; ++l) now[l] = std::max(now[l], before[k] + row[l]);
    }
    for (Index l = 0; l < width_; ++l) now[l] += label(t)[l];
  }
}

void BigramChainPart::run_backward() {
  std::copy(end_.begin(), end_.end(), backward_.end() - width_);
  for (Index t = length_ - 2; t >= 0; --t) {
    heed_(width_ * width_);
    const double* after = &backward_[(t + 1) * width_];
    for (Index k = 0; k < width_; ++k) {
      const double* row = pair(t) + k * width_;
      double best = kNever<double>;
      for (Index l = 0; l < width_; ++l) best = std::max(best, row[l] + (label(t + 1)[l] + after[l]));
      backward_[t * width_ + k] = best;
    }
  }
}

double BigramChainPart::maximize(std::vector<Index>& used) {
  used.clear();
  if (length_ == 0) return 0;
  run_forward();
  double best = kNever<double>;
  for (Index l = 0; l < width_; ++l) {
    const double sum = forward_[(length_ - 1) * width_ + l] + end_[l];
    if (sum > best) best = sum, labels_[length_ - 1] = l;
  }
  if (best == kNever<double>) return best;
  for (Index t = length_ - 1; t > 0; --t) {
    double most = kNever<double>;
    for (Index k = 0; k < width_; ++k) {
      const double sum = forward_[(t - 1) * width_ + k] + pair(t - 1)[k * width_ + labels_[t]];
      if (sum > most) most = sum, labels_[t - 1] = k;
    }
  }
  for (Index t = 0; t < length_; ++t) used.push_back(t * width_ + labels_[t]);
  for (Index t = 0; t + 1 < length_; ++t) used.push_back((length_ + t * width_ + labels_[t]) * width_ + labels_[t + 1]);
  return score();
}

bool BigramChainPart::max_marginals(double* with, double* without) {
  if (length_ == 0) return true;
  run_forward();
  run_backward();
  for (Index i = 0; i < length_ * width_; ++i) with[i] = forward_[i] + backward_[i];
  for (Index t = 0; t + 1 < length_; ++t)
    for (Index k = 0; k < width_; ++k)
      for (Index l = 0; l < width_; ++l) {
        const double after = label(t + 1)[l] + backward_[(t + 1) * width_ + l];
        with[(length_ + t * width_ + k) * width_ + l] = forward_[t * width_ + k] + pair(t)[k * width_ + l] + after;
      }
  fill_without(groups(), with, without);
  return true;
}

bool BigramChainPart::complete(const std::vector<Index>& used, double* score) {
  *score = kNever<double>;
  if (static_cast<Index>(used.size()) != std::max<Index>(2 * length_ - 1, 0)) return true;
  for (Index t = 0; t < length_; ++t) {
    labels_[t] = used[t] - t * width_;
    if (labels_[t] < 0 || labels_[t] >= width_) return true;
  }
  for (Index t = 0; t + 1 < length_; ++t)
    if (used[length_ + t] != (length_ + t * width_ + labels_[t]) * width_ + labels_[t + 1]) return true;
  *score = length_ ? this->score() : 0;
  return true;
}

}  // namespace certus::relax
