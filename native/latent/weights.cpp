#include "latent/weights.hpp"

#include <limits>

#include "base/exponential.hpp"
#include "base/forward_backward.hpp"
#include "base/sums.hpp"

namespace certus::latent {
namespace {

// The score of state h at position t, with those of the start and the end.
struct Scores {
  const LatentModel& model;
  const double* emissions;
  Index length;

  double at(Index t, Index h) const {
    double x = emissions[t * model.states() + h];
    if (t == 0 && model.start()) x += model.start()[h];
    if (t == length - 1 && model.end()) x += model.end()[h];
    return x;
  }
};

struct Extent {
  double most = kNever<double>, least = -kNever<double>;  // of what is allowed

  double span() const { return most > least ? most - least : 0; }
  double size() const { return most == kNever<double> ? 0 : std::max(std::abs(most), std::abs(least)); }
};

Extent find_extent(const Scores& scores, Index t) {
  Extent out;
  for (Index h = 0; h < scores.model.states(); ++h) {
    const double x = scores.at(t, h);
    if (x != kNever<double>) out.most = std::max(out.most, x), out.least = std::min(out.least, x);
  }
  return out;
}

// exp(x[i] - most), and 0 for -inf; the others are within the range of exp_vector.
CERTUS_CLONES void weigh(double* x, double most, Index width) {
  for (Index i = 0; i < width; i += kLanes) {
    const Vec zero = {}, low = zero - 700, v = load(x + i) - most;
    const Vec e = exp_vector(v > low ? v : low);
    store(x + i, v > low ? e : zero);
  }
}

}  // namespace

bool spans_little(const LatentModel& model, const Moves& moves, const double* emissions, Index T) {
  const Scores scores{model, emissions, T};
  double whole = 0, step = 0;
  for (Index t = 0; t < T; ++t) {
    const Extent e = find_extent(scores, t);
    const double span = e.span() + (t ? moves.span(t) : 0);
    whole += span;
    step = std::max(step, span);
  }
  return (moves.separates() ? whole : step) <= kSpan;
}

double rounding(const LatentModel& model, const Moves& moves, const double* emissions, Index T) {
  const Scores scores{model, emissions, T};
  double sizes = 0;
  for (Index t = 0; t < T; ++t)
    sizes += find_extent(scores, t).size() + (t ? std::abs(moves.largest(t)) + moves.span(t) : 0);
  const double operations = static_cast<double>(T) * static_cast<double>(model.states() + 8);
  return 8 * std::numeric_limits<double>::epsilon() * (operations + sizes);
}

template <>
Weights<PowersOfTwo>::Weights(const LatentModel& model, const Moves& moves, const double* emissions, Index T,
                              Arena& arena)
    : model_(model), length_(T), link_(model.link().data()), stride_(model.width()), step_(0) {
  const Index H = model.states(), W = model.width();
  const Scores scores{model, emissions, T};
  nodes_ = arena.get<double>(T * W + kLanes);
  std::fill_n(nodes_ + T * W, kLanes, 0.0);
  for (Index t = 0; t < T; ++t) {
    double* row = nodes_ + t * W;
    double most = kNever<double>;
    for (Index h = 0; h < H; ++h) row[h] = scores.at(t, h), most = std::max(most, row[h]);
    for (Index h = H; h < W; ++h) row[h] = kNever<double>;
    if (most == kNever<double>) most = 0;
    weigh(row, most, W);
    taken_ += most;
  }
  for (Index t = 1; t < T; ++t) taken_ += moves.largest(t);
  if (moves.shared()) return;
  step_ = H * W;
  double* links = arena.get<double>((T - 1) * step_ + kLanes);
  std::fill_n(links + (T - 1) * step_, kLanes, 0.0);
  for (Index t = 1; t < T; ++t)
    for (Index i = 0; i < H; ++i) {
      double* row = links + (t - 1) * step_ + i * W;
      std::copy_n(moves.score(t) + i * H, H, row);
      std::fill(row + H, row + W, kNever<double>);
      weigh(row, moves.largest(t), W);
    }
  link_ = links;
}

template <>
Weights<Logarithms>::Weights(const LatentModel& model, const Moves& moves, const double* emissions, Index T,
                             Arena& arena)
    : model_(model), length_(T), stride_(model.states()), step_(moves.shared() ? 0 : stride_ * stride_) {
  const Index H = model.states(), W = model.width();
  const Scores scores{model, emissions, T};
  nodes_ = arena.get<Logarithm>(T * W, {});
  for (Index t = 0; t < T; ++t)
    for (Index h = 0; h < H; ++h) nodes_[t * W + h] = {scores.at(t, h)};
  static_assert(sizeof(Logarithm) == sizeof(double));
  link_ = reinterpret_cast<const Logarithm*>(moves.score(1));
}

template <class Kind>
auto Weights<Kind>::across(Index t, N* scratch) const -> const N* {
  const Index H = model_.states(), W = model_.width();
  if constexpr (std::is_same_v<N, double>)
    if (step_ == 0) return model_.across().data();
  std::fill_n(scratch, H * W, Kind::zero);
  for (Index i = 0; i < H; ++i)
    for (Index j = 0; j < H; ++j) scratch[j * W + i] = link(t, i)[j];
  return scratch;
}

void multiply_rows(const double* x, const double* rows, Index count, Index stride, Index width, double* out) {
  std::fill_n(out, width, 0.0);
  accumulate_rows(out, x, rows, count, stride, width);
}

void multiply_rows(const Logarithm* x, const Logarithm* rows, Index count, Index stride, Index width, Logarithm* out) {
  std::fill_n(out, width, Logarithm{});
  for (Index i = 0; i < count; ++i) {
    if (x[i].log == kNever<double>) continue;
    for (Index j = 0; j < std::min(stride, width); ++j) out[j] = out[j] + x[i] * rows[i * stride + j];
  }
}

namespace {

// out[j] = node[j] sum_i x[i] rows[i][j] for j < count <= kLanes, and zeros up to there.
CERTUS_CLONES void step_few(const double* x, const double* rows, Index from, Index stride, const double* node,
                            Index count, double* out) {
  Vec sum = {};
  for (Index i = 0; i < from; ++i) sum += x[i] * load(rows + i * stride);
  store(out, sum * load(node));
  for (Index j = count; j < kLanes; ++j) out[j] = 0;
}

}  // namespace

template <class Kind>
Index Weights<Kind>::step(const N* x, Label y, Index t, Label z, N* out) const {
  const Index first = model_.begin(y), into = model_.begin(z), count = model_.count(z);
  Exponent taken;
  if constexpr (std::is_same_v<N, double>) {
    if (count <= kLanes) {
      step_few(x, link(t, first) + into, model_.count(y), model_.width(), node(t) + into, count, out);
      Kind::rescale(out, count, taken);
      return taken.exponent;
    }
  }
  std::fill_n(out, count, Kind::zero);
  for (Index i = 0; i < model_.count(y); ++i) {
    const N* row = link(t, first + i) + into;
    for (Index j = 0; j < count; ++j) out[j] = out[j] + x[i] * row[j];
  }
  for (Index j = 0; j < count; ++j) out[j] = out[j] * node(t)[into + j];
  Kind::rescale(out, count, taken);
  return taken.exponent;
}

namespace {

// The paths through all states, and the probabilities p [T][states] that they give to each.
template <class Kind>
class AllPaths : public StepsOver<AllPaths<Kind>, Kind> {
 public:
  using N = typename Kind::Value;

  // Without p, alpha keeps two rows alone.
  AllPaths(const Weights<Kind>& weights, double* p, Arena& arena)
      : weights_(weights), p_(p), rows_(arena.get<N>(((p ? weights.length() : 2) + 2) * width())) {}

  Index width() const { return weights_.model().width(); }
  Index work() const { return width() * width(); }
  N* alpha(Index t) const { return rows_ + (2 + (p_ ? t : t % 2)) * width(); }
  N* beta(Index) const { return rows_; }
  N* onward(Index) const { return rows_ + width(); }

  void forward(Index t, const N* from, N* to) const {
    const LatentModel& model = weights_.model();
    std::fill_n(to, width(), Kind::zero);
    if constexpr (std::is_same_v<N, double>) {
      accumulate_rows(to, from, weights_.link(t, 0), model.states(), width(), width());
    } else {
      for (Label y = 0; y < model.labels(); ++y) {
        weights_.leave(from + model.begin(y), y, t, onward(t));
        for (Index j = 0; j < model.states(); ++j) to[j] = to[j] + onward(t)[j];
      }
    }
  }
  void backward(Index t, const N* from, N* to) const {
    dot_rows(to, from, weights_.link(t, 0), weights_.model().states(), width(), width());
  }
  void weigh(Index t, N* x) const {
    for (Index j = 0; j < width(); ++j) x[j] = x[j] * weights_.node(t)[j];
  }
  void collect(Index t, const double* alpha, const double* beta) const {
    const Index H = weights_.model().states();
    double *row = p_ + t * H, sum = 0;
    for (Index h = 0; h < H; ++h) sum += row[h] = alpha[h] * beta[h];
    for (Index h = 0; h < H; ++h) row[h] /= sum;
  }

 private:
  const Weights<Kind>& weights_;
  double* p_;
  N* rows_;  // [2 + T or 2][width]: beta, onward, alpha
};

// The paths of given labels: a row holds the states of one of them.
template <class Kind>
class PathsOfLabels : public StepsOver<PathsOfLabels<Kind>, Kind> {
 public:
  using N = typename Kind::Value;

  PathsOfLabels(const Weights<Kind>& weights, const Label* labels, Arena& arena)
      : weights_(weights), labels_(labels), alpha_(arena.get<N>(2 * weights.model().room())) {}

  Index work() const { return weights_.model().room() * weights_.model().room(); }
  N* alpha(Index t) const { return alpha_ + t % 2 * weights_.model().room(); }
  void begin(N* alpha) const {
    const LatentModel& model = weights_.model();
    std::copy_n(weights_.node(0) + model.begin(labels_[0]), model.count(labels_[0]), alpha);
  }
  void forward(Index t, const N* from, N* to) {
    this->total.exponent += weights_.step(from, labels_[t - 1], t, labels_[t], to);
  }
  bool settle(Index, N*) const { return true; }  // a step does it

 private:
  const Weights<Kind>& weights_;
  const Label* labels_;
  N* alpha_;
};

// The log of the sum of a row, times what was taken out of it.
template <class Kind>
double log_sum(const typename Kind::Value* row, Index count, const typename Kind::Total& taken) {
  typename Kind::Value sum = Kind::zero;
  for (Index h = 0; h < count; ++h) sum = sum + row[h];
  return log_of(sum) + taken.log();
}

}  // namespace

template <class Kind>
double Weights<Kind>::sum(Arena& arena) const {
  const Arena::Scope scope(arena);
  AllPaths<Kind> steps(*this, nullptr, arena);
  if (run_forward(steps, length_) < length_) return kNever<double>;
  return log_sum<Kind>(steps.alpha(length_ - 1), model_.states(), steps.total);
}

template <>
Index Weights<PowersOfTwo>::posteriors(double* p, double* log_z, Arena& arena) const {
  const Arena::Scope scope(arena);
  AllPaths<PowersOfTwo> steps(*this, p, arena);
  const Index died = run_forward(steps, length_);
  if (died < length_) return died;
  *log_z = log_sum<PowersOfTwo>(steps.alpha(length_ - 1), model_.states(), steps.total);
  run_backward(steps, length_);
  return -1;
}

template <class Kind>
double Weights<Kind>::sum_of(const Label* labels, Arena& arena) const {
  const Arena::Scope scope(arena);
  PathsOfLabels<Kind> steps(*this, labels, arena);
  run_forward(steps, length_);
  return log_sum<Kind>(steps.alpha(length_ - 1), model_.count(labels[length_ - 1]), steps.total);
}

template class Weights<PowersOfTwo>;
template class Weights<Logarithms>;

}  // namespace certus::latent
