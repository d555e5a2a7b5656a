#include "learn/refinement/expectations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.hpp"
#include "base/forward_backward.hpp"
#include "base/parallel.hpp"
#include "base/vector.hpp"

namespace certus::learn::refinement {
namespace {

inline constexpr double kLeast = std::numeric_limits<double>::min();  // the reciprocals of smaller ones overflow

// What a sentence needs, reused from sentence to sentence.
struct Scratch {
  std::vector<double> scale, beta, onward;  // [longest sentence], [hidden], [hidden]
};

// to = from A, for a matrix A [m][m]; M is m where it is known to the compiler, or 0.
template <int M>
CERTUS_INLINE void product(const double* from, const double* A, Index m, double* to) {
  if constexpr (M > 0) {
    double sum[M] = {};  // stays in registers
    for (int g = 0; g < M; ++g)
      for (int h = 0; h < M; ++h) sum[h] += from[g] * A[g * M + h];
    for (int h = 0; h < M; ++h) to[h] = sum[h];
  } else {
    for (Index h = 0; h < m; ++h) to[h] = 0;
    for (Index g = 0; g < m; ++g)
      for (Index h = 0; h < m; ++h) to[h] += from[g] * A[g * m + h];
  }
}

// The hidden states along the known labels of a sentence. Posteriors take the place of alpha.
template <int M>
struct LabelledSteps {
  const Parameters& model;
  const Index *labels, *seen;
  Scratch& scratch;
  double weight;
  double *rows, *pairs;  // [T][hidden], [labels][labels][hidden][hidden]
  double log_sum = 0;

  CERTUS_INLINE_MEMBER double* alpha(Index t) const { return rows + t * m(); }
  CERTUS_INLINE_MEMBER double* beta(Index) const { return scratch.beta.data(); }
  CERTUS_INLINE_MEMBER double* onward(Index) const { return scratch.onward.data(); }

  CERTUS_INLINE_MEMBER void begin(double* alpha) const {
    for (Index h = 0; h < m(); ++h) alpha[h] = model.initial[labels[0] * m() + h];
  }
  CERTUS_INLINE_MEMBER void forward(Index t, const double* from, double* to) const {
    product<M>(from, model.transition + pair(t), m(), to);
  }
  CERTUS_INLINE_MEMBER bool settle(Index t, double* alpha) {
    const double* o = emission(t);
    double total = 0;
    for (Index h = 0; h < m(); ++h) total += alpha[h] *= o[h];
    if (!(total >= kLeast)) return false;
    const double scale = scratch.scale[t] = 1 / total;
    log_sum += std::log(total);  // one by one: a product of the least of them would be out of range
    for (Index h = 0; h < m(); ++h) alpha[h] *= scale;
    return true;
  }

  // Whether a sentence of this length can end; counts how probable that is.
  CERTUS_INLINE_MEMBER bool end(Index length) {
    const double *stop = model.stop + labels[length - 1] * m(), *last = alpha(length - 1);
    double* last_beta = beta(length - 1);
    double total = 0;
    for (Index h = 0; h < m(); ++h) total += last[h] * (last_beta[h] = stop[h]);
    if (!(total >= kLeast)) return false;
    for (Index h = 0; h < m(); ++h) last_beta[h] /= total;
    log_sum += std::log(total);
    return true;
  }
  CERTUS_INLINE_MEMBER void finish(double*) const {}  // `end` has made it
  CERTUS_INLINE_MEMBER void look_back(Index t, double* alpha, const double* beta, double* __restrict onward) const {
    const double *o = emission(t), scale = scratch.scale[t];
    for (Index h = 0; h < m(); ++h) onward[h] = o[h] * beta[h] * scale;
    for (Index h = 0; h < m(); ++h) alpha[h] *= beta[h];
  }
  CERTUS_INLINE_MEMBER void backward(Index t, const double* __restrict from, double* to) const {
    const double* before = alpha(t - 1);
    double* __restrict sum = pairs + pair(t);
    for (Index g = 0; g < m(); ++g) {
      const double counted = weight * before[g];
      for (Index h = 0; h < m(); ++h) sum[g * m() + h] += counted * from[h];
    }
    product<M>(from, model.turned + pair(t), m(), to);
  }

  // The log of the sum over all paths, or -inf where there is none.
  CERTUS_INLINE_MEMBER double sum(Index length) {
    if (run_forward(*this, length) < length || !end(length)) return kNever<double>;
    run_backward(*this, length);
    return log_sum;
  }

  CERTUS_INLINE_MEMBER Index m() const { return M ? M : model.hidden; }
  // Where the matrix of the labels before and at position t begins.
  CERTUS_INLINE_MEMBER Index pair(Index t) const { return (labels[t - 1] * model.labels + labels[t]) * m() * m(); }
  CERTUS_INLINE_MEMBER const double* emission(Index t) const {
    return model.emission + (labels[t] * model.observations + seen[t]) * m();
  }
};

struct Shard {
  Index begin, end;
  double* pairs;
};

template <int M>
CERTUS_INLINE void shard_body(const Parameters& model, const Sequences& data, const Shard& shard, Scratch& scratch,
                              double* log_likelihood, double* posterior) {
  Heed heed;
  for (Index n = shard.begin; n < shard.end; ++n) {
    const Index begin = data.offsets[n], length = data.offsets[n + 1] - begin;
    heed(4 * length * model.hidden * model.hidden);
    double* own = posterior + begin * model.hidden;
    LabelledSteps<M> steps{model, data.labels + begin, data.observations + begin, scratch, data.weights[n],
                           own,   shard.pairs};
    log_likelihood[n] = length ? steps.sum(length) : 0.0;
    if (std::isinf(log_likelihood[n])) std::fill_n(own, length * model.hidden, 0.0);
  }
}

CERTUS_CLONES void run_shard(const Parameters& model, const Sequences& data, const Shard& shard, Scratch& scratch,
                             double* log_likelihood, double* posterior) {
  switch (model.hidden) {
    case 2: return shard_body<2>(model, data, shard, scratch, log_likelihood, posterior);
    case 4: return shard_body<4>(model, data, shard, scratch, log_likelihood, posterior);
    case 8: return shard_body<8>(model, data, shard, scratch, log_likelihood, posterior);
    case 12: return shard_body<12>(model, data, shard, scratch, log_likelihood, posterior);
    case 16: return shard_body<16>(model, data, shard, scratch, log_likelihood, posterior);
    case 24: return shard_body<24>(model, data, shard, scratch, log_likelihood, posterior);
    case 32: return shard_body<32>(model, data, shard, scratch, log_likelihood, posterior);
    default: return shard_body<0>(model, data, shard, scratch, log_likelihood, posterior);
  }
}

}  // namespace

void expectations(const Parameters& model, const Sequences& data, Index threads, double* log_likelihood,
                  double* posterior, double* pairs) {
  const Index size = model.labels * model.labels * model.hidden * model.hidden;
  Index longest = 1;
  for (Index n = 0; n < data.sentences; ++n) longest = std::max(longest, data.offsets[n + 1] - data.offsets[n]);
  std::vector<double> sums(size * kShards);
  parallel(kShards, threads, [&](Index k, Index) {
    Scratch scratch{std::vector<double>(longest), std::vector<double>(model.hidden), std::vector<double>(model.hidden)};
    const Shard shard{data.sentences * k / kShards, data.sentences * (k + 1) / kShards, sums.data() + k * size};
    hide_clones(run_shard)(model, data, shard, scratch, log_likelihood, posterior);
  });
  std::fill_n(pairs, size, 0.0);
  for (Index k = 0; k < kShards; ++k)
    for (Index i = 0; i < size; ++i) pairs[i] += sums[k * size + i];
}

}  // namespace certus::learn::refinement
