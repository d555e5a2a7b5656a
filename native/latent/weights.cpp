#include "latent/weights.hpp"

#include <limits>

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
  bool forbids = false;

  double span() const { return most > least ? most - least : 0; }
  double size() const { return most == kNever<double> ? 0 : std::max(std::abs(most), std::abs(least)); }
};

Extent extent(const Scores& scores, Index t) {
  Extent out;
  for (Index h = 0; h < scores.model.states(); ++h) {
    const double x = scores.at(t, h);
    if (x == kNever<double>) out.forbids = true;
    else out.most = std::max(out.most, x), out.least = std::min(out.least, x);
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
  bool forbids = moves.forbids();
  double whole = 0, step = 0;
  for (Index t = 0; t < T; ++t) {
    const Extent e = extent(scores, t);
    forbids = forbids || e.forbids;
    const double span = e.span() + (t ? moves.span(t) : 0);
    whole += span;
    step = std::max(step, span);
  }
  return (forbids ? whole : step) <= kSpan;
}

double rounding(const LatentModel& model, const Moves& moves, const double* emissions, Index T) {
  const Scores scores{model, emissions, T};
  double sizes = 0;
  for (Index t = 0; t < T; ++t)
    sizes += extent(scores, t).size() + (t ? std::abs(moves.largest(t)) + moves.span(t) : 0);
  const double operations = static_cast<double>(T) * static_cast<double>(model.states() + 8);
  return 8 * std::numeric_limits<double>::epsilon() * (operations + sizes);
}

template <>
Weights<double>::Weights(const LatentModel& model, const Moves& moves, const double* emissions, Index T, Arena& arena)
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
Weights<Logarithm>::Weights(const LatentModel& model, const Moves& moves, const double* emissions, Index T,
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

template <class N>
const N* Weights<N>::across(Index t, N* scratch) const {
  const Index H = model_.states(), W = model_.width();
  if constexpr (std::is_same_v<N, double>)
    if (step_ == 0) return model_.across().data();
  std::fill_n(scratch, H * W, kZero<N>);
  for (Index i = 0; i < H; ++i)
    for (Index j = 0; j < H; ++j) scratch[j * W + i] = link(t, i)[j];
  return scratch;
}

template <>
void Weights<double>::leave(const double* x, Label y, Index t, double* out) const {
  const Index W = model_.width();
  std::fill_n(out, W, 0.0);
  accumulate_rows(out, x, link(t, model_.begin(y)), model_.count(y), W, W);
}

template <>
void Weights<Logarithm>::leave(const Logarithm* x, Label y, Index t, Logarithm* out) const {
  const Index W = model_.width(), first = model_.begin(y);
  std::fill_n(out, W, Logarithm{});
  for (Index i = 0; i < model_.count(y); ++i) {
    if (x[i].log == kNever<double>) continue;
    for (Index j = 0; j < model_.states(); ++j) out[j] = out[j] + x[i] * link(t, first + i)[j];
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

template <class N>
Index Weights<N>::step(const N* x, Label y, Index t, Label z, N* out) const {
  const Index first = model_.begin(y), into = model_.begin(z), count = model_.count(z);
  if constexpr (std::is_same_v<N, double>) {
    if (count <= kLanes) {
      step_few(x, link(t, first) + into, model_.count(y), model_.width(), node(t) + into, count, out);
      return rescale(out, count);
    }
  }
  std::fill_n(out, count, kZero<N>);
  for (Index i = 0; i < model_.count(y); ++i) {
    const N* row = link(t, first + i) + into;
    for (Index j = 0; j < count; ++j) out[j] = out[j] + x[i] * row[j];
  }
  for (Index j = 0; j < count; ++j) out[j] = out[j] * node(t)[into + j];
  return rescale(out, count);
}

template <class N>
double Weights<N>::sum(Arena& arena) const {
  const Arena::Scope scope(arena);
  const Index W = model_.width(), H = model_.states();
  N *now = arena.get<N>(W), *next = arena.get<N>(W), *part = arena.get<N>(W);
  std::copy_n(node(0), W, now);
  Index exponent = 0;
  for (Index t = 1; t < length_; ++t) {
    std::fill_n(next, W, kZero<N>);
    if constexpr (std::is_same_v<N, double>) {
      accumulate_rows(next, now, link(t, 0), H, W, W);
    } else {
      for (Label y = 0; y < model_.labels(); ++y) {
        leave(now + model_.begin(y), y, t, part);
        for (Index j = 0; j < H; ++j) next[j] = next[j] + part[j];
      }
    }
    for (Index j = 0; j < W; ++j) next[j] = next[j] * node(t)[j];
    exponent += rescale(next, H);
    std::swap(now, next);
  }
  N total = kZero<N>;
  for (Index h = 0; h < H; ++h) total = total + now[h];
  return log_of(total) + static_cast<double>(exponent) * kLogTwo;
}

template <>
Index Weights<double>::posteriors(double* p, double* log_sum, Arena& arena) const {
  const Arena::Scope scope(arena);
  const Index T = length_, W = model_.width(), H = model_.states();
  double *ahead = arena.get<double>(T * W), *beta = arena.get<double>(W, 1.0), *next = arena.get<double>(W, 0.0);
  Index exponent = 0;
  for (Index t = 0; t < T; ++t) {
    double* now = ahead + t * W;
    std::fill_n(now, W, t ? 0.0 : 1.0);
    if (t) accumulate_rows(now, now - W, link(t, 0), H, W, W);
    double most = 0;
    for (Index j = 0; j < W; ++j) most = std::max(most, now[j] *= node(t)[j]);
    if (most == 0) return t;
    exponent += rescale(now, H);
  }
  double total = 0;
  for (Index h = 0; h < H; ++h) total += ahead[(T - 1) * W + h];
  *log_sum = log_of(total) + static_cast<double>(exponent) * kLogTwo;
  for (Index t = T - 1; t >= 0; --t) {
    double sum = 0;
    for (Index h = 0; h < H; ++h) sum += p[t * H + h] = ahead[t * W + h] * beta[h];
    for (Index h = 0; h < H; ++h) p[t * H + h] /= sum;
    if (t == 0) break;
    for (Index h = 0; h < H; ++h) next[h] = beta[h] * node(t)[h];
    dot_rows(beta, next, link(t, 0), H, W, W);
    rescale(beta, H);
  }
  return -1;
}

template <class N>
double Weights<N>::sum_of(const Label* labels, Arena& arena) const {
  const Arena::Scope scope(arena);
  N *now = arena.get<N>(model_.room()), *next = arena.get<N>(model_.room());
  std::copy_n(node(0) + model_.begin(labels[0]), model_.count(labels[0]), now);
  Index exponent = 0;
  for (Index t = 1; t < length_; ++t) {
    exponent += step(now, labels[t - 1], t, labels[t], next);
    std::swap(now, next);
  }
  N total = kZero<N>;
  for (Index h = 0; h < model_.count(labels[length_ - 1]); ++h) total = total + now[h];
  return log_of(total) + static_cast<double>(exponent) * kLogTwo;
}

template class Weights<double>;
template class Weights<Logarithm>;

}  // namespace certus::latent
