#include "lattice/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/exponential.hpp"
#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "base/vector.hpp"

namespace certus::lattice {
namespace {

constexpr float kFar = -87.0f;  // exp of this is about the smallest normal number
// Numbers below the range of doubles are lost, about 1e-308 of the sum of their position. Where all ways on weigh less
// than this, they sum up to nothing that counts; elsewhere sums are taken again, in logarithms.
constexpr double kMost = 1e250;

// exp to about 1e-7 relative, for x <= 0; from kFar down it stays where it is.
CERTUS_INLINE float exp_of(float x) {
  x = x < kFar ? kFar : x;
  const float n = std::nearbyint(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

// The sum of x[i] y[i], by several sums that do not wait for each other.
CERTUS_INLINE double add_up_products(const double* x, const double* y, std::uint32_t n) {
  double sum = 0;
  std::uint32_t i = 0;
  if (n >= 16) {
    double sums[4] = {};
    for (; i + 4 <= n; i += 4)
      for (std::uint32_t k = 0; k < 4; ++k) sums[k] += x[i + k] * y[i + k];
    sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// x[i] += y[i] z
CERTUS_INLINE void add_multiple(const double* __restrict y, double z, std::uint32_t n, double* __restrict x) {
  for (std::uint32_t i = 0; i < n; ++i) x[i] += y[i] * z;
}

// out[i] = x[i] y[i] z
CERTUS_INLINE void multiply(const double* __restrict x, const double* __restrict y, double z, std::uint32_t n,
                            double* __restrict out) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] = y[i] * (x[i] * z);
}

// x[i] = exp(x[i] - shift), and 0 for what is lost in rounding beside that.
CERTUS_CLONES void exponentiate(double* x, Index n, double shift) {
  const Vec low = Vec{} - 700.0;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = load(x + i) - shift;
    store(x + i, v > low ? exp_vector(v > low ? v : low) : Vec{});
  }
  for (; i < n; ++i) x[i] = std::exp(x[i] - shift);
}

}  // namespace

CERTUS_CLONES float exponentiate(float* x, Index n, float shift) {
  constexpr Index W = 16;
  float sums[W] = {};
  Index i = 0;
  for (; i + W <= n; i += W)
    for (Index w = 0; w < W; ++w) sums[w] += x[i + w] = exp_of(x[i + w] - shift);
  for (; i < n; ++i) sums[0] += x[i] = exp_of(x[i] - shift);
  float sum = 0;
  for (Index w = 0; w < W; ++w) sum += sums[w];
  return sum;
}

// In vectors that every machine has a maximum of.
CERTUS_CLONES float find_largest(const float* x, Index n) {
  using V = Simd<float, 16>;
  constexpr Index W = V::width;
  V::vector most[4];
  for (auto& each : most) each = V::vector{} + kNever<float>;
  Index i = 0;
  for (; i + 4 * W <= n; i += 4 * W)
#pragma GCC unroll 4
    for (Index j = 0; j < 4; ++j) most[j] = larger(most[j], *reinterpret_cast<const V::unaligned*>(x + i + j * W));
  float last = fold_largest<float, 16>(larger(larger(most[0], most[1]), larger(most[2], most[3])));
  for (; i < n; ++i) last = x[i] > last ? x[i] : last;
  return last;
}

class Sums::Steps {
 public:
  Steps(const Lattice& lattice, Sums& sums, bool edges, bool precise)
      : lattice_(lattice), sums_(sums), edges_(edges), precise_(precise) {}

  double* alpha(Index t) const { return sums_.alpha_.data() + lattice_.begin[t]; }
  double* beta(Index t) const { return sums_.beta_.data() + lattice_.begin[t]; }
  double* onward(Index t) const { return sums_.onward_.data() + lattice_.begin[t]; }

  void begin(double* alpha) const { std::fill_n(alpha, lattice_.states(0), 1.0); }
  void forward(Index t, const double* before, double* alpha) {
    sums_.largest_[t] = precise_ ? weigh_edges_precisely(t) : weigh_edges(t);
    const double* factor = sums_.factor_.data() + lattice_.edge_begin[lattice_.begin[t]];
    for (std::uint32_t s = lattice_.begin[t]; s < lattice_.begin[t + 1]; ++s) {
      const double* source = before + (lattice_.from[s] - lattice_.begin[t - 1]);
      *alpha++ = add_up_products(source, factor, lattice_.edges(s));
      factor += lattice_.edges(s);
    }
  }
  bool settle(Index t, double* alpha) {
    double sum = 0;
    for (std::uint32_t s = 0; s < lattice_.states(t); ++s) sum += alpha[s];
    lost_ = lost_ || !(sum > 1 / kMost);
    sum = std::max(sum, std::numeric_limits<double>::min());
    for (std::uint32_t s = 0; s < lattice_.states(t); ++s) alpha[s] /= sum;
    sums_.scale_[t] = 1 / sum;
    sums_.log_partition += sums_.largest_[t] + std::log(sum);
    return true;
  }
  void finish(double* beta) const { std::fill_n(beta, lattice_.states(lattice_.positions() - 1), 1.0); }
  void look_back(Index t, const double* alpha, const double* beta, double* onward) {
    double* const probability = sums_.probability.data() + lattice_.begin[t];
    for (std::uint32_t s = 0; s < lattice_.states(t); ++s) {
      probability[s] = alpha[s] * beta[s];
      onward[s] = beta[s] * sums_.scale_[t];
      lost_ = lost_ || !(onward[s] < kMost);
    }
  }
  void backward(Index t, const double* onward, double* before) const {
    const double* const alpha = this->alpha(t - 1);
    for (std::uint32_t s = lattice_.begin[t]; s < lattice_.begin[t + 1]; ++s, ++onward) {
      const std::uint32_t source = lattice_.from[s] - lattice_.begin[t - 1], first = lattice_.edge_begin[s];
      add_multiple(sums_.factor_.data() + first, *onward, lattice_.edges(s), before + source);
      if (edges_)
        multiply(sums_.factor_.data() + first, alpha + source, *onward, lattice_.edges(s),
                 sums_.edge_probability.data() + first);
    }
  }
  bool has_lost() const { return lost_; }

 private:
  // factor[e] = exp(edge + node - the largest of them), for the edges into a position; returns that largest one.
  float weigh_edges(Index t) const {
    const std::uint32_t begin = lattice_.begin[t], end = lattice_.begin[t + 1];
    const std::uint32_t first = lattice_.edge_begin[begin], last = lattice_.edge_begin[end];
    sums_.scratch_.resize(last - first);
    float* const x = sums_.scratch_.data();
    float most = kNever<float>, least = -kNever<float>;
    for (std::uint32_t s = begin; s < end; ++s) {
      const float node = static_cast<float>(lattice_.node[s]);
      for (std::uint32_t e = lattice_.edge_begin[s]; e < lattice_.edge_begin[s + 1]; ++e) {
        x[e - first] = lattice_.edge[e] + node;
        most = std::max(most, x[e - first]);
        if (x[e - first] != kNever<float>) least = std::min(least, x[e - first]);
      }
    }
    double* const factor = sums_.factor_.data() + first;
    if (most - least < -kFar) {
      exponentiate(x, last - first, most);
      for (std::uint32_t e = 0; e < last - first; ++e)
        factor[e] = lattice_.edge[first + e] == kNever<float> ? 0.0 : x[e];
    } else {
      for (std::uint32_t e = 0; e < last - first; ++e) factor[e] = std::exp(static_cast<double>(x[e]) - most);
    }
    return most;
  }
  // The same without rounding scores to single precision, which is 1e-3 where they are 1e4.
  double weigh_edges_precisely(Index t) const {
    const std::uint32_t begin = lattice_.begin[t], end = lattice_.begin[t + 1];
    double* const factor = sums_.factor_.data();
    double most = kNever<double>;
    for (std::uint32_t s = begin; s < end; ++s)
      for (std::uint32_t e = lattice_.edge_begin[s]; e < lattice_.edge_begin[s + 1]; ++e)
        most = std::max(most, factor[e] = lattice_.edge[e] + lattice_.node[s]);
    const std::uint32_t first = lattice_.edge_begin[begin];
    exponentiate(factor + first, static_cast<Index>(lattice_.edge_begin[end] - first), most);
    return most;
  }

  const Lattice& lattice_;
  Sums& sums_;
  const bool edges_, precise_;
  bool lost_ = false;  // whether numbers may have been out of range that count
};

// The same in logarithms, for scores that are hundreds of nats apart.
class Sums::LogSteps {
 public:
  LogSteps(const Lattice& lattice, Sums& sums, bool edges) : lattice_(lattice), sums_(sums), edges_(edges) {}

  double* alpha(Index t) const { return sums_.alpha_.data() + lattice_.begin[t]; }
  double* beta(Index t) const { return sums_.beta_.data() + lattice_.begin[t]; }
  double* onward(Index t) const { return sums_.onward_.data() + lattice_.begin[t]; }

  void begin(double* alpha) const { std::fill_n(alpha, lattice_.states(0), 0.0); }
  void forward(Index t, const double* before, double* alpha) const {
    for (std::uint32_t s = lattice_.begin[t]; s < lattice_.begin[t + 1]; ++s) {
      const double* source = before + (lattice_.from[s] - lattice_.begin[t - 1]);
      Logarithm sum;
      for (std::uint32_t e = lattice_.edge_begin[s]; e < lattice_.edge_begin[s + 1]; ++e)
        sum = sum + Logarithm{*source++ + lattice_.edge[e]};
      *alpha++ = sum.log + lattice_.node[s];
    }
  }
  bool settle(Index, const double*) const { return true; }
  void finish(double* beta) const {
    const Index last = lattice_.positions() - 1;
    Logarithm total;
    for (std::uint32_t s = 0; s < lattice_.states(last); ++s) total = total + Logarithm{alpha(last)[s]};
    sums_.log_partition = total.log;
    std::fill_n(beta, lattice_.states(last), 0.0);
  }
  void look_back(Index t, const double* alpha, const double* beta, double* onward) const {
    double* const probability = sums_.probability.data() + lattice_.begin[t];
    for (std::uint32_t s = 0; s < lattice_.states(t); ++s) {
      probability[s] = find_share(alpha[s] + beta[s]);
      onward[s] = beta[s] + lattice_.node[lattice_.begin[t] + s];
    }
  }
  void backward(Index t, const double* onward, double* before) const {
    const double* const alpha = this->alpha(t - 1);
    for (std::uint32_t s = lattice_.begin[t]; s < lattice_.begin[t + 1]; ++s, ++onward) {
      std::uint32_t source = lattice_.from[s] - lattice_.begin[t - 1];
      for (std::uint32_t e = lattice_.edge_begin[s]; e < lattice_.edge_begin[s + 1]; ++e, ++source) {
        const double x = lattice_.edge[e] + *onward;
        before[source] = (Logarithm{before[source]} + Logarithm{x}).log;
        if (edges_) sums_.edge_probability[e] = find_share(alpha[source] + x);
      }
    }
  }

 private:
  double find_share(double log) const { return log == kNever<double> ? 0 : std::exp(log - sums_.log_partition); }

  const Lattice& lattice_;
  Sums& sums_;
  const bool edges_;
};

void Sums::find(const Lattice& lattice, bool edges, bool precise) {
  const std::size_t S = lattice.size(), E = lattice.edge.size();
  alpha_.resize(S), onward_.resize(S), probability.resize(S);
  beta_.assign(S, 0);
  factor_.resize(E);
  scale_.resize(lattice.positions()), largest_.assign(lattice.positions(), 0);
  if (edges) edge_probability.resize(E);
  log_partition = 0;
  Steps steps(lattice, *this, edges, precise);
  run_forward(steps, lattice.positions());
  run_backward(steps, lattice.positions());
  has_factors_ = !steps.has_lost();
  if (!has_factors_) {
    beta_.assign(S, kNever<double>);
    LogSteps logs(lattice, *this, edges);
    run_forward(logs, lattice.positions());
    run_backward(logs, lattice.positions());
  }
  probability[0] = 1;
}

}  // namespace certus::lattice
