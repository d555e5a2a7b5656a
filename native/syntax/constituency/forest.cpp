#include "syntax/constituency/forest.hpp"

#include <algorithm>

namespace certus::syntax {
namespace {

constexpr double kNone = kNever<double>;

double adjusted(const Forest::Word& word, const double* adjust, Index tags) {
  return adjust ? word.score + adjust[word.position * tags + word.tag] : word.score;
}

}  // namespace

double Forest::maximize(const double* adjust, Index tags) {
  if (symbols_.empty()) return kNone;
  std::fill(inside_.begin(), inside_.end(), kNone);
  std::fill(choice_.begin(), choice_.end(), kNoChoice);
  for (std::size_t n = 0; n < words_.size(); ++n) {
    inside_[words_[n].node] = adjusted(words_[n], adjust, tags);
    choice_[words_[n].node] = ~static_cast<std::int32_t>(n);
  }
  double* inside = inside_.data();
  for (auto n = static_cast<std::int32_t>(edges_.size()) - 1; n >= 0; --n) {
    const Edge& edge = edges_[n];
    double score = edge.score + inside[edge.left];
    if (edge.right >= 0) score += inside[edge.right];
    if (score > inside[edge.head]) {
      inside[edge.head] = score;
      choice_[edge.head] = n;
    }
  }
  return inside[0];
}

void Forest::max_marginals(const double* adjust, Index tags, double* out) {
  std::fill(out, out + length_ * tags, kNone);
  if (symbols_.empty()) return;
  outside_.assign(symbols_.size(), kNone);
  outside_[0] = 0;
  const double* inside = inside_.data();
  double* outside = outside_.data();
  for (const Edge& edge : edges_) {
    const double above = outside[edge.head] + edge.score;
    if (edge.right < 0) {
      outside[edge.left] = std::max(outside[edge.left], above);
      continue;
    }
    outside[edge.left] = std::max(outside[edge.left], above + inside[edge.right]);
    outside[edge.right] = std::max(outside[edge.right], above + inside[edge.left]);
  }
  for (const Word& word : words_) {
    double& best = out[word.position * tags + word.tag];
    best = std::max(best, outside[word.node] + adjusted(word, adjust, tags));
  }
}

}  // namespace certus::syntax
