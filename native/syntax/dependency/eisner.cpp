// With C> and C< for complete items to the right and to the left of their heads, and I> and I< likewise,
//
//   B(i, j)  = max over i <= r < j of  C>(i, r) + C<(j, r + 1)
//   I>(i, j) = B(i, j) + score(i, j)                   I<(j, i) = B(i, j) + score(j, i)
//   C>(i, j) = max over i < m <= j of  I>(i, m) + C>(m, j)
//   C<(j, i) = max over i <= m < j of  I<(j, m) + C<(m, i)
//
// from short spans to long ones; outside scores from long spans to short ones. Every sum runs along rows: complete
// items are kept by their heads, for B, and by their ends, for what completes an item.
#include "syntax/dependency/eisner.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "syntax/dependency/max_sum.hpp"

namespace certus::syntax {

void Eisner::Items::reset(Index cells) {
  for (std::vector<double>* table : {&complete, &by_end, &incomplete})
    table->assign(static_cast<std::size_t>(cells), kNever<double>);
}

void Eisner::find_inside(Index first) {
  const Index N = size_, n = N - 1;
  Heed heed;
  for (Index i = first; i < N; ++i) {
    right_.complete[i * N + i] = right_.by_end[i * N + i] = 0;
    if (i > 0) left_.complete[i * N + i] = left_.by_end[i * N + i] = 0;
  }
  for (Index length = 1; length <= n - first; ++length)
    for (Index i = first; i + length <= n; ++i) {
      const Index j = i + length;
      const double both = max_sum(&right_.complete[i * N + i], &left_.complete[j * N + i + 1], length);
      right_.incomplete[i * N + j] = both + score(i, j);
      const double to_right = max_sum(&right_.incomplete[i * N + i + 1], &right_.by_end[j * N + i + 1], length);
      right_.complete[i * N + j] = right_.by_end[j * N + i] = to_right;
      heed(4 * length);
      if (i == 0) continue;
      left_.incomplete[j * N + i] = both + score(j, i);
      const double to_left = max_sum(&left_.incomplete[j * N + i], &left_.by_end[i * N + i], length);
      left_.complete[j * N + i] = left_.by_end[i * N + j] = to_left;
    }
}

void Eisner::read(const double* scores, Index n) {
  size_ = n + 1;
  scores_ = scores;
  right_.reset(size_ * size_);
  left_.reset(size_ * size_);
}

// Follows the sums that made up each item; the first that is equal counts.
void Eisner::trace(Index root, Index* heads) {
  const Index N = size_;
  while (!spans_.empty()) {
    const auto [h, e] = spans_.back();
    spans_.pop_back();
    if (h == e) continue;
    const bool to_right = e > h;
    const Index low = std::min(h, e);
    const Items& side = to_right ? right_ : left_;
    const Index m =
        to_right
            ? h + 1 + find_sum(&side.incomplete[h * N + h + 1], &side.by_end[e * N + h + 1], side.complete[h * N + e])
            : low + find_sum(&side.incomplete[h * N + low], &side.by_end[low * N + low], side.complete[h * N + e]);
    heads[m - 1] = h;
    spans_.push_back({m, e});
    const Index i = std::min(h, m), j = std::max(h, m);
    const double* rights = &right_.complete[i * N + i];
    const double* lefts = &left_.complete[j * N + i + 1];
    const Index r = i + find_sum(rights, lefts, max_sum(rights, lefts, j - i));
    spans_.push_back({i, r});
    spans_.push_back({j, r + 1});
  }
  if (root > 0) heads[root - 1] = 0;
}

bool Eisner::decode(const double* scores, Index n, bool single_root, Index* heads) {
  read(scores, n);
  if (n == 0) return true;
  find_inside(single_root ? 1 : 0);
  spans_.clear();
  if (!single_root) {
    if (right_.complete[n] == kNever<double>) return false;
    spans_.push_back({0, n});
    trace(0, heads);
    return true;
  }
  Index root = 0;
  double total = kNever<double>;
  for (Index m = 1; m <= n; ++m) {
    const double sum = left_.complete[m * size_ + 1] + right_.complete[m * size_ + n] + score(0, m);
    if (sum > total) total = sum, root = m;
  }
  if (root == 0) return false;
  spans_.push_back({root, 1});
  spans_.push_back({root, n});
  trace(root, heads);
  return true;
}

}  // namespace certus::syntax
