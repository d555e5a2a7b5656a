#include "scoring/head_candidates.hpp"

#include <algorithm>
#include <cmath>

namespace certus::scoring {

namespace {

constexpr double kLeastProbability = 1e-300;  // what counts as that much is not known any better

std::uint64_t make_pair(Index head, Index modifier) {
  return static_cast<std::uint64_t>(head) << 32 | static_cast<std::uint64_t>(modifier);
}

}  // namespace

double Candidates::find_marginals(bool single_root) {
  all_.assign_all(length_);
  of_arcs_.resize(static_cast<std::size_t>(all_.size()));
  marginals_.resize(of_arcs_.size());
  for (Index a = 0; a < all_.size(); ++a) of_arcs_[a] = row(all_.modifier(a))[all_.head(a)];
  const double total = trees_.marginals(all_, of_arcs_.data(), single_root, marginals_.data());
  for (Index a = 0; a < all_.size(); ++a)
    row(all_.modifier(a))[all_.head(a)] = std::log(std::max(marginals_[a], kLeastProbability));
  return total;
}

void Candidates::add_neighbours() {
  Index root = 1;
  for (Index m = 1; m <= length_; ++m) {
    if (row(m)[0] > row(root)[0]) root = m;
    if (m == length_) continue;
    pairs_.push_back(make_pair(m, m + 1));
    pairs_.push_back(make_pair(m + 1, m));
  }
  if (length_ > 0) pairs_.push_back(make_pair(0, root));
}

void Candidates::choose(const CandidateLimits& limits, const Label* also, bool connected, syntax::Arcs& arcs) {
  const Index n = length_;
  const bool all = limits.ratio <= 0;
  const double below = all ? kNever<double> : std::log(limits.ratio);
  pairs_.clear();
  for (Index m = 1; m <= n; ++m) {
    const double* scores = row(m);
    const double least = all ? kNever<double> : *std::max_element(scores, scores + n + 1) + below;
    order_.clear();
    for (Index h = 0; h <= n; ++h)
      if (h != m && scores[h] >= least) order_.push_back(static_cast<Label>(h));
    if (!all && static_cast<Index>(order_.size()) > limits.most) {
      const auto better = [scores](Label a, Label b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
      std::nth_element(order_.begin(), order_.begin() + limits.most, order_.end(), better);
      order_.resize(static_cast<std::size_t>(limits.most));
    }
    if (also && std::find(order_.begin(), order_.end(), also[m - 1]) == order_.end()) order_.push_back(also[m - 1]);
    for (const Label h : order_) pairs_.push_back(make_pair(h, m));
  }
  if (connected) add_neighbours();
  std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  heads_.clear();
  modifiers_.clear();
  for (const std::uint64_t pair : pairs_) {
    heads_.push_back(static_cast<Label>(pair >> 32));
    modifiers_.push_back(static_cast<Label>(pair & 0xFFFFFFFF));
  }
  arcs.assign(n, heads_.data(), modifiers_.data(), static_cast<Index>(heads_.size()));
}

}  // namespace certus::scoring
