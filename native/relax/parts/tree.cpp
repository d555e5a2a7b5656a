#include "relax/parts/tree.hpp"

#include <algorithm>

#include "relax/spanning_tree.hpp"

namespace certus::relax {

TreePart::TreePart(std::vector<double> scores, Index words, bool single)
    : Part(std::move(scores)), words_(words), single_(single), heads_(words) {
  for (Index i = 0; i < words; ++i) add_group(i * (words + 1), (i + 1) * (words + 1), true);
}

double TreePart::maximize(std::vector<Index>& used) {
  used.clear();
  if (!spanning_tree(sums_.data(), words_, single_, heads_.data())) return kNever<double>;
  double score = 0;
  for (Index i = 0; i < words_; ++i) {
    used.push_back(i * (words_ + 1) + heads_[i]);
    score += scores_[used.back()];
  }
  return score;
}

bool TreePart::max_marginals(double* with, double* without) {
  if (!bound_trees(sums_.data(), words_, single_, heads_.data(), with)) std::fill_n(with, cells(), kNever<double>);
  fill_without(groups(), with, without);
  return true;
}

bool TreePart::complete(const std::vector<Index>& used, double* score) {
  *score = kNever<double>;
  if (static_cast<Index>(used.size()) != words_) return true;
  double sum = 0;
  Index roots = 0;
  for (Index i = 0; i < words_; ++i) {
    heads_[i] = used[i] - i * (words_ + 1);
    if (heads_[i] < 0 || heads_[i] > words_ || heads_[i] == i + 1) return true;
    roots += heads_[i] == 0;
    sum += scores_[used[i]];
  }
  if (single_ && words_ > 0 && roots != 1) return true;
  for (Index i = 0; i < words_; ++i) {
    // Words on the way to the root are marked with it: each is passed once.
    Index at = i, steps = 0;
    while (heads_[at] > 0 && steps <= words_) at = heads_[at] - 1, ++steps;
    if (heads_[at] > 0) return true;
    for (Index word = i; heads_[word] > 0;) {
      const Index next = heads_[word] - 1;
      heads_[word] = 0;
      word = next;
    }
  }
  *score = sum;
  return true;
}

}  // namespace certus::relax
