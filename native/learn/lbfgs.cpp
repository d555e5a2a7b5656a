#include "learn/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exponential.hpp"

namespace certus::learn {
namespace {

// Sums over long vectors have sixteen lanes on every machine, and so the same value.
CERTUS_CLONES double dot(const double* a, const double* b, Index n) {
  Vec even = {}, odd = {};
  Index i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even += load(a + i) * load(b + i);
    odd += load(a + i + kLanes) * load(b + i + kLanes);
  }
  double sum = add_lanes(even + odd);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// q += factor * a, and the product of the new q and b: one pass instead of two.
CERTUS_CLONES double add_dot(double* q, double factor, const double* a, const double* b, Index n) {
  Vec even = {}, odd = {};
  Index i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Vec x = load(q + i) + factor * load(a + i), y = load(q + i + kLanes) + factor * load(a + i + kLanes);
    store(q + i, x);
    store(q + i + kLanes, y);
    even += x * load(b + i);
    odd += y * load(b + i + kLanes);
  }
  double sum = add_lanes(even + odd);
  for (; i < n; ++i) q[i] += factor * a[i], sum += q[i] * b[i];
  return sum;
}

CERTUS_CLONES void move(double* out, const double* x, double step, const double* d, Index n) {
  for (Index i = 0; i < n; ++i) out[i] = x[i] + step * d[i];
}

CERTUS_CLONES void scale(double* x, double factor, Index n) {
  for (Index i = 0; i < n; ++i) x[i] *= factor;
}

double norm(const double* x, Index n) { return std::sqrt(dot(x, x, n)); }

// The steps and changes of the gradient of the last iterations, and the product with the inverse Hessian they imply.
class Memory {
 public:
  Memory(Index memories, Index n) : n_(n), pairs_(memories) {}

  // From what lies between two points; ignored where the function does not curve upwards.
  void learn(const double* x, const double* x_before, const double* g, const double* g_before) {
    Pair& p = pairs_[next_];
    p.s.resize(n_), p.y.resize(n_);
    move(p.s.data(), x, -1, x_before, n_);
    move(p.y.data(), g, -1, g_before, n_);
    add();
  }
  void keep(LbfgsState& state) {
    for (Index k = kept_ - 1; k >= 0; --k) {
      state.steps.push_back(pair(k).s);
      state.changes.push_back(pair(k).y);
    }
  }
  void restore(const LbfgsState& state) {
    next_ = kept_ = 0;
    for (std::size_t k = 0; k < state.steps.size(); ++k) {
      pairs_[next_].s = state.steps[k];
      pairs_[next_].y = state.changes[k];
      add();
    }
  }
  bool empty() const { return kept_ == 0; }
  void forget() { kept_ = 0; }

  // q becomes H q.
  void apply(double* q) {
    if (empty()) return;
    double product = dot(q, pair(0).s.data(), n_);
    for (Index k = 0; k < kept_; ++k) {  // newest first
      Pair& p = pair(k);
      p.alpha = product / p.sy;
      product = add_dot(q, -p.alpha, p.y.data(), (k + 1 < kept_ ? pair(k + 1).s : pair(k).y).data(), n_);
    }
    scale(q, first_, n_);
    product *= first_;  // of q and the oldest y
    for (Index k = kept_ - 1; k >= 0; --k) {
      Pair& p = pair(k);
      product = add_dot(q, p.alpha - product / p.sy, p.s.data(), pair(std::max<Index>(k - 1, 0)).y.data(), n_);
    }
  }

 private:
  struct Pair {
    Doubles s, y;
    double sy = 0, alpha = 0;
  };
  // The pair written last, if it is of use.
  void add() {
    Pair& p = pairs_[next_];
    const double sy = dot(p.s.data(), p.y.data(), n_), yy = dot(p.y.data(), p.y.data(), n_);
    if (!(sy > 1e-12 * yy)) {
      kept_ = std::min(kept_, static_cast<Index>(pairs_.size()) - 1);  // the oldest pair has been written over
      return;
    }
    p.sy = sy;
    first_ = sy / yy;
    next_ = (next_ + 1) % static_cast<Index>(pairs_.size());
    kept_ = std::min(kept_ + 1, static_cast<Index>(pairs_.size()));
  }
  Pair& pair(Index age) {
    const Index m = static_cast<Index>(pairs_.size());
    return pairs_[(next_ - 1 - age + 2 * m) % m];
  }

  Index n_, next_ = 0, kept_ = 0;
  double first_ = 1;  // the scale of the Hessian one starts from
  std::vector<Pair> pairs_;
};

struct Point {
  double step, f, slope;
};

// The minimiser of the cubic through two points with their slopes, kept well inside of them.
double between(const Point& a, const Point& b) {
  const double low = std::min(a.step, b.step), high = std::max(a.step, b.step), margin = 0.1 * (high - low);
  const double d = a.slope + b.slope - 3 * (a.f - b.f) / (a.step - b.step);
  const double root = std::sqrt(d * d - a.slope * b.slope) * (b.step > a.step ? 1 : -1);
  const double found = b.step - (b.step - a.step) * (b.slope + root - d) / (b.slope - a.slope + 2 * root);
  if (!std::isfinite(found)) return (low + high) / 2;
  return std::clamp(found, low + margin, high - margin);
}

class Minimiser : public Lbfgs {
 public:
  Minimiser(double* x, Index n, LbfgsFunction evaluate, const LbfgsOptions& options)
      : x_(x), n_(n), evaluate_(std::move(evaluate)), o_(options), memory_(options.memories, n) {
    for (Doubles* v : {&g_, &g_before_, &x_before_, &d_}) v->resize(n);
    if (o_.l1 > 0) pseudo_.resize(n);
  }

  bool step() override {
    if (!begun_) begin();
    if (end_ || !advance()) {
      end_ = true;
      return false;
    }
    past_.push_back(f_);
    const Index k = static_cast<Index>(past_.size()) - 1;
    end_ = flat() || (o_.period > 0 && k >= o_.period && past_[k - o_.period] - f_ < o_.delta * std::abs(f_));
    return true;
  }
  bool end() const override { return end_; }
  double objective() const override { return past_.back(); }

  LbfgsState state() override {
    LbfgsState state{past_, {}, {}};
    memory_.keep(state);
    return state;
  }
  void restore(const LbfgsState& state) override {
    past_ = state.past;
    memory_.restore(state);
    begun_ = end_ = false;
  }

 private:
  static constexpr double kDecrease = 1e-4, kCurve = 0.9;  // of the Wolfe conditions

  void begin() {
    f_ = value();
    if (o_.l1 > 0) find_pseudo();
    if (past_.empty()) past_.push_back(f_);
    end_ = flat();
    begun_ = true;
  }

  // The gradient, or with an l1 term the steepest of the subgradients.
  const double* slope() const { return o_.l1 > 0 ? pseudo_.data() : g_.data(); }
  bool flat() const { return norm(slope(), n_) <= o_.epsilon * std::max(1.0, norm(x_, n_)); }

  // The objective at x; the gradient of its smooth part goes to g.
  double value() {
    double f = evaluate_(x_, g_.data());
    if (o_.l1 > 0) {
      double sum = 0;
      for (Index i = 0; i < n_; ++i) sum += std::abs(x_[i]);
      f += o_.l1 * sum;
    }
    return std::isnan(f) ? std::numeric_limits<double>::infinity() : f;
  }
  void find_pseudo() {
    const double c = o_.l1;
    for (Index i = 0; i < n_; ++i) {
      const double g = g_[i];
      if (x_[i] != 0) pseudo_[i] = x_[i] > 0 ? g + c : g - c;
      else pseudo_[i] = g < -c ? g + c : g > c ? g - c : 0;
    }
  }

  bool advance() {
    const bool fresh = memory_.empty();
    x_before_.assign(x_, x_ + n_);
    g_before_ = g_;
    std::copy_n(slope(), n_, d_.data());
    scale(d_.data(), -1, n_);
    memory_.apply(d_.data());
    const double first = fresh ? 1 / norm(d_.data(), n_) : 1.0;
    const double before = f_;
    if (!(o_.l1 > 0 ? search_orthant(first) : search(first))) {
      std::copy_n(x_before_.data(), n_, x_);
      g_ = g_before_;
      f_ = before;
      if (o_.l1 > 0) find_pseudo();
      if (fresh) return false;
      memory_.forget();  // once more, straight down
      return advance();
    }
    memory_.learn(x_, x_before_.data(), g_.data(), g_before_.data());
    if (o_.l1 > 0) find_pseudo();
    return true;
  }

  Point at(double step) {
    move(x_, x_before_.data(), step, d_.data(), n_);
    f_ = value();
    step_ = step;
    return {step, f_, dot(g_.data(), d_.data(), n_)};
  }

  bool search(double first) {
    const Point start{0, f_, dot(g_.data(), d_.data(), n_)};
    if (!(start.slope < 0)) return false;
    return o_.search == LineSearch::wolfe ? search_wolfe(start, first) : search_halving(start, first);
  }

  bool falls(const Point& start, const Point& p) const { return p.f <= start.f + kDecrease * p.step * start.slope; }
  bool levels(const Point& start, const Point& p) const { return std::abs(p.slope) <= -kCurve * start.slope; }

  bool search_halving(const Point& start, double step) {
    for (Index n = 0; n < o_.max_trials; ++n) {
      const Point p = at(step);
      if (!falls(start, p)) step *= 0.5;
      else if (p.slope < kCurve * start.slope) step *= 2.1;
      else if (o_.search == LineSearch::strong && !levels(start, p)) step *= 0.5;
      else return true;
    }
    return false;
  }

  bool search_wolfe(const Point& start, double step) {
    Point before = start;
    for (Index n = 0; n < o_.max_trials; ++n) {
      const Point p = at(step);
      if (!falls(start, p) || (n > 0 && p.f >= before.f)) return zoom(start, before, p, n + 1);
      if (levels(start, p)) return true;
      if (p.slope >= 0) return zoom(start, p, before, n + 1);
      before = p;
      step *= 3;
    }
    return true;  // it still falls: far enough for this time
  }

  // `low` is the best point so far that falls enough; between it and `high` lies one that levels as well.
  bool zoom(const Point& start, Point low, Point high, Index trials) {
    for (; trials < o_.max_trials; ++trials) {
      const double step = std::isfinite(high.f) ? between(low, high) : (low.step + high.step) / 2;
      const Point p = at(step);
      if (!falls(start, p) || p.f >= low.f) {
        high = p;
        continue;
      }
      if (levels(start, p)) return true;
      if (p.slope * (high.step - low.step) >= 0) high = low;
      low = p;
    }
    if (low.step == 0) return false;
    if (step_ != low.step) at(low.step);
    return true;
  }

  // Steps of OWL-QN: within the orthant of x, or of the direction where x is 0; what would leave it becomes 0.
  bool search_orthant(double step) {
    for (Index i = 0; i < n_; ++i)
      if (d_[i] * pseudo_[i] >= 0) d_[i] = 0;
    const double before = f_;
    for (Index n = 0; n < o_.max_trials; ++n, step *= 0.5) {
      double gain = 0;
      for (Index i = 0; i < n_; ++i) {
        const double side = x_before_[i] != 0 ? x_before_[i] : -pseudo_[i], to = x_before_[i] + step * d_[i];
        x_[i] = to * side > 0 ? to : 0;
        gain += (x_[i] - x_before_[i]) * pseudo_[i];
      }
      step_ = step;
      f_ = value();
      if (gain < 0 && f_ <= before + kDecrease * gain) return true;
    }
    return false;
  }

  double* x_;
  Index n_;
  const LbfgsFunction evaluate_;
  const LbfgsOptions o_;
  Memory memory_;
  Doubles g_, g_before_, x_before_, d_, pseudo_;
  double f_ = 0, step_ = 0;
  std::vector<double> past_;
  bool begun_ = false;  // the objective at x is known
  bool end_ = false;
};

}  // namespace

std::unique_ptr<Lbfgs> make_lbfgs(double* x, Index n, LbfgsFunction evaluate, const LbfgsOptions& options) {
  return std::make_unique<Minimiser>(x, n, std::move(evaluate), options);
}

}  // namespace certus::learn
