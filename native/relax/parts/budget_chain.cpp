#include "relax/parts/budget_chain.hpp"

#include <algorithm>

#include "base/arena.hpp"

namespace certus::relax {

BudgetChainPart::BudgetChainPart(std::vector<double> emissions, Scores scores, Index least, Index most)
    : Part(std::move(emissions)),
      given_(std::move(scores)),
      labels_(static_cast<Index>(given_.start.size())),
      length_(labels_ ? cells() / labels_ : 0),
      least_(least),
      levels_(std::min(most, length_) + 1),
      best_(length_ * levels_ * labels_),
      rest_(best_.size()),
      path_(length_) {
  for (Index t = 0; t < length_; ++t) add_group(t * labels_, (t + 1) * labels_, true);
}

// The best way to have label l at position t, with k counted ones up to it, before its own score; and where from.
double BudgetChainPart::enter(Index t, Index k, Index l, Index* from) {
  const Index before = k - given_.counted[l];
  *from = -1;
  if (before < 0) return kNever<double>;
  if (t == 0) return before == 0 ? given_.start[l] : kNever<double>;
  double most = kNever<double>;
  for (Index m = 0; m < labels_; ++m)
    if (const double sum = best(t - 1, before, m) + given_.transitions[m * labels_ + l]; sum > most)
      most = sum, *from = m;
  return most;
}

void BudgetChainPart::run_forward() {
  for (Index t = 0; t < length_; ++t)
    for (Index k = 0; k < levels_; ++k) {
      heed_(labels_ * labels_);
      for (Index l = 0; l < labels_; ++l) {
        Index from;
        best(t, k, l) = enter(t, k, l, &from) + sums_[t * labels_ + l];
      }
    }
}

// rest[t][k][l]: the best way to go on from label l with k counted ones so far.
void BudgetChainPart::run_backward() {
  for (Index t = length_ - 1; t >= 0; --t)
    for (Index k = 0; k < levels_; ++k) {
      heed_(labels_ * labels_);
      for (Index l = 0; l < labels_; ++l) {
        double most = kNever<double>;
        if (t == length_ - 1 && k >= least_) most = given_.end[l];
        for (Index m = 0; t < length_ - 1 && m < labels_; ++m) {
          const Index after = k + given_.counted[m];
          if (after >= levels_) continue;
          most = std::max(most,
                          given_.transitions[l * labels_ + m] + sums_[(t + 1) * labels_ + m] + rest(t + 1, after, m));
        }
        rest(t, k, l) = most;
      }
    }
}

double BudgetChainPart::maximize(std::vector<Index>& used) {
  used.clear();
  if (length_ == 0) return least_ > 0 ? kNever<double> : 0.0;
  run_forward();
  double most = kNever<double>;
  Index count = -1, label = -1;
  for (Index k = least_; k < levels_; ++k)
    for (Index l = 0; l < labels_; ++l)
      if (const double sum = best(length_ - 1, k, l) + given_.end[l]; sum > most) most = sum, count = k, label = l;
  if (label < 0) return kNever<double>;
  for (Index t = length_ - 1; t >= 0; --t) {
    path_[t] = label;
    Index from;
    enter(t, count, label, &from);
    count -= given_.counted[label];
    label = from;
  }
  for (Index t = 0; t < length_; ++t) used.push_back(t * labels_ + path_[t]);
  return score(path_.data());
}

double BudgetChainPart::score(const Index* labels) const {
  double sum = given_.start[labels[0]];
  for (Index t = 0; t < length_; ++t) {
    if (t > 0) sum += given_.transitions[labels[t - 1] * labels_ + labels[t]];
    sum += scores_[t * labels_ + labels[t]];
  }
  return sum + given_.end[labels[length_ - 1]];
}

bool BudgetChainPart::max_marginals(double* with, double* without) {
  if (length_ == 0) return true;
  run_forward();
  run_backward();
  for (Index t = 0; t < length_; ++t)
    for (Index l = 0; l < labels_; ++l) {
      double most = kNever<double>;
      for (Index k = 0; k < levels_; ++k) most = std::max(most, best(t, k, l) + rest(t, k, l));
      with[t * labels_ + l] = most;
    }
  fill_without(groups(), with, without);
  return true;
}

bool BudgetChainPart::complete(const std::vector<Index>& used, double* score) {
  *score = kNever<double>;
  if (static_cast<Index>(used.size()) != length_) return true;
  const LocalArena arena;
  Index *labels = arena.get<Index>(length_), count = 0;
  for (Index t = 0; t < length_; ++t) {
    labels[t] = used[t] - t * labels_;
    if (labels[t] < 0 || labels[t] >= labels_) return true;
    count += given_.counted[labels[t]];
  }
  if (count < least_ || count >= levels_) return true;
  *score = length_ ? this->score(labels) : 0;
  return true;
}

}  // namespace certus::relax
