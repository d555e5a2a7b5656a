// The matrix-tree theorem (Smith & Smith 2007; Koo et al. 2007; McDonald & Satta 2007) by eliminating one word after
// the other, with sums of positive numbers only, so that nothing cancels (Grassmann, Taksar & Heyman 1985). A word k
// with the weights w(h, k) from the heads that are left, d = their sum, is taken out by
//
//     Z(w) = d * Z(w'),    w'(h, m) = w(h, m) + w(h, k) w(k, m) / d
//
// With a single root, edges from the root count nothing in d: they are followed to the first order only. Words are then
// taken out in an order in which d > 0, and the last one hangs on the root.
//
// The shares go the way back. Of w'(h, m) the part that came through k belongs to (h, k) and (k, m), and what is left
// of d, which every tree uses once, to the edges into k by their weights.
//
// Weights are exp(score - best score into the word). Where sums get near the end of the range of doubles, all is done
// again with logarithms.
#include "syntax/dependency/matrix_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/interrupt.hpp"

namespace certus::syntax {
namespace {

struct Linear {
  static constexpr double kZero = 0;
  static constexpr double kLeast = 0x1p-600;  // a sum below it may have lost parts of itself
  static double of_log(double x) { return std::exp(x); }
  static double to_log(double x) { return std::log(x); }
  static double add(double a, double b) { return a + b; }
  static double multiply(double a, double b) { return a * b; }
  static double divide(double a, double b) { return a / b; }
  static double ratio(double a, double b) { return a / b; }
};

struct Logarithms {
  static constexpr double kZero = kNever<double>;
  static constexpr double kLeast = kNever<double>;
  static double of_log(double x) { return x; }
  static double to_log(double x) { return x; }
  static double add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kZero ? a : a + std::log1p(std::exp(b - a));
  }
  static double multiply(double a, double b) { return a + b; }
  static double divide(double a, double b) { return a - b; }
  static double ratio(double a, double b) { return std::exp(a - b); }
};

}  // namespace

template <class Domain>
void MatrixTree::fill(const Arcs& arcs) {
  const Index N = n_ + 1;
  weight_.assign(N * N, Domain::kZero);
  for (Index a = 0; a < arcs.size(); ++a) weight_[arcs.head(a) * N + arcs.modifier(a)] = Domain::of_log(score_[a]);
  order_.resize(n_);
  std::iota(order_.begin(), order_.end(), 1);
  eliminated_ = 0;
  sum_.assign(N, Domain::kZero);
}

// Moves the word to take out next to its place in the order; returns it with its sum filled in.
template <class Domain>
Index MatrixTree::choose_word() {
  const Index N = n_ + 1;
  Index chosen = eliminated_;
  for (Index i = eliminated_; i < (single_ ? n_ : eliminated_ + 1); ++i) {
    const Index k = order_[i];
    double d = single_ ? Domain::kZero : weight_[k];
    for (Index j = eliminated_; j < n_; ++j)
      if (j != i) d = Domain::add(d, weight_[order_[j] * N + k]);
    sum_[k] = d;
    if (d > sum_[order_[chosen]]) chosen = i;
  }
  std::swap(order_[eliminated_], order_[chosen]);
  return order_[eliminated_];
}

template <class Domain>
bool MatrixTree::eliminate(double* log_sum) {
  const Index N = n_ + 1, last = single_ ? n_ - 1 : n_;
  Heed heed;
  double total = 0;
  for (; eliminated_ < last; ++eliminated_) {
    const Index k = choose_word<Domain>();
    const double d = sum_[k];
    if (!(d > Domain::kLeast)) return false;
    total += Domain::to_log(d);
    for (Index i = eliminated_; i < n_; ++i) {  // the first stands for the root
      const Index h = i == eliminated_ ? 0 : order_[i];
      const double through = Domain::divide(weight_[h * N + k], d);
      if (through == Domain::kZero) continue;
      for (Index j = eliminated_ + 1; j < n_; ++j) {
        double& w = weight_[h * N + order_[j]];
        if (order_[j] != h) w = Domain::add(w, Domain::multiply(through, weight_[k * N + order_[j]]));
      }
    }
    heed(4 * n_ * (n_ - eliminated_));
  }
  if (single_) {
    const double d = weight_[order_[last]];
    if (!(d > Domain::kLeast)) return false;
    total += Domain::to_log(d);
  }
  *log_sum = total;
  return true;
}

// weight_ holds what an edge weighed when the first of its two words was taken out, and share_ what such edges have of
// all trees. Before that, of the edge's weight w and its share, a part that came through k has the share in proportion.
template <class Domain>
void MatrixTree::distribute() {
  const Index N = n_ + 1;
  share_.assign(N * N, 0);
  if (single_) share_[order_[n_ - 1]] = 1;
  Heed heed;
  while (eliminated_-- > 0) {
    const Index k = order_[eliminated_];
    const double d = sum_[k];
    double left = 1;
    for (Index i = eliminated_; i < n_; ++i) {
      const Index h = i == eliminated_ ? 0 : order_[i];
      const double through = Domain::divide(weight_[h * N + k], d);
      if (through == Domain::kZero) continue;
      for (Index j = eliminated_ + 1; j < n_; ++j) {
        const Index m = order_[j];
        const double share = share_[h * N + m], via = Domain::multiply(through, weight_[k * N + m]);
        if (m == h || share == 0 || via == Domain::kZero) continue;
        const double part = share * Domain::ratio(via, weight_[h * N + m]);
        share_[h * N + k] += part;
        share_[k * N + m] += part;
        left -= part;
      }
    }
    for (Index i = eliminated_; i < n_; ++i) {
      const Index h = i == eliminated_ ? 0 : order_[i];
      if (h > 0 || !single_) share_[h * N + k] += left * Domain::ratio(weight_[h * N + k], d);
    }
    heed(8 * n_ * (n_ - eliminated_));
  }
}

template <class Domain>
bool MatrixTree::solve(const Arcs& arcs, double* log_sum, double* out) {
  fill<Domain>(arcs);
  if (!eliminate<Domain>(log_sum)) return false;
  distribute<Domain>();
  for (Index a = 0; a < arcs.size(); ++a) {
    const Index cell = arcs.head(a) * (n_ + 1) + arcs.modifier(a);
    const double part = share_[cell] == 0 ? 0 : Domain::ratio(Domain::of_log(score_[a]), weight_[cell]);
    out[a] = std::clamp(share_[cell] * part, 0.0, 1.0);
  }
  return true;
}

template <class S>
double MatrixTree::marginals(const Arcs& arcs, const S* scores, bool single_root, double* out) {
  n_ = arcs.words();
  single_ = single_root;
  std::fill(out, out + arcs.size(), 0.0);
  if (n_ == 0) return 0;
  score_.assign(scores, scores + arcs.size());
  double best_sum = 0;
  for (Index m = 1; m <= n_; ++m) {
    double best = kNever<double>;
    for (Label i = arcs.into_begin(m); i < arcs.into_begin(m + 1); ++i) best = std::max(best, score_[arcs.into(i)]);
    if (best == kNever<double>) return best;
    for (Label i = arcs.into_begin(m); i < arcs.into_begin(m + 1); ++i) score_[arcs.into(i)] -= best;
    best_sum += best;
  }
  double log_sum = kNever<double>;
  if (!solve<Linear>(arcs, &log_sum, out) && !solve<Logarithms>(arcs, &log_sum, out)) return kNever<double>;
  return best_sum + log_sum;
}

template double MatrixTree::marginals(const Arcs&, const float*, bool, double*);
template double MatrixTree::marginals(const Arcs&, const double*, bool, double*);

}  // namespace certus::syntax
