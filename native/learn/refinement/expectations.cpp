#include "learn/refinement/expectations.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "base/vector.hpp"

namespace certus::refinement {
namespace {

inline constexpr double kLeast = std::numeric_limits<double>::min();  // the reciprocals of smaller ones overflow

// What a walk needs, reused from sentence to sentence.
struct Scratch {
  std::vector<double> scale, back, next;
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

template <int M>
CERTUS_INLINE double walk(const Parameters& model, const Index* labels, const Index* seen, Index length,
                          Scratch& scratch, double weight, double* forward, double* pairs) {
  const Index m = M ? M : model.hidden, L = model.labels, n = model.observations, square = m * m;
  double* scale = scratch.scale.data();
  double log_sum = 0;
  for (Index t = 0; t < length; ++t) {
    double* now = forward + t * m;
    const Index a = labels[t];
    if (t == 0) {
      for (Index h = 0; h < m; ++h) now[h] = model.initial[a * m + h];
    } else {
      const double* T = model.transition + (labels[t - 1] * L + a) * square;
      product<M>(now - m, T, m, now);
    }
    const double* o = model.emission + (a * n + seen[t]) * m;
    double total = 0;
    for (Index h = 0; h < m; ++h) total += now[h] *= o[h];
    if (!(total >= kLeast)) return kNever<double>;
    scale[t] = 1 / total;
    log_sum += std::log(total);
    for (Index h = 0; h < m; ++h) now[h] *= scale[t];
  }
  double* __restrict back = scratch.back.data(), * __restrict next = scratch.next.data();
  const double* last = forward + (length - 1) * m;
  double end = 0;
  for (Index h = 0; h < m; ++h) end += last[h] * (back[h] = model.stop[labels[length - 1] * m + h]);
  if (!(end >= kLeast)) return kNever<double>;
  for (Index h = 0; h < m; ++h) back[h] /= end;
  for (Index t = length - 1;; --t) {
    double* now = forward + t * m;  // becomes the posterior once the pair with the next token is done
    if (t == 0) {
      for (Index h = 0; h < m; ++h) now[h] *= back[h];
      break;
    }
    const Index a = labels[t - 1], b = labels[t];
    const double* o = model.emission + (b * n + seen[t]) * m;
    for (Index h = 0; h < m; ++h) next[h] = o[h] * back[h] * scale[t];
    for (Index h = 0; h < m; ++h) now[h] *= back[h];
    const double* before = now - m;
    double* __restrict sum = pairs + (a * L + b) * square;
    for (Index g = 0; g < m; ++g) {
      const double counted = weight * before[g];
      for (Index h = 0; h < m; ++h) sum[g * m + h] += counted * next[h];
    }
    product<M>(next, model.turned + (a * L + b) * square, m, back);
  }
  return log_sum + std::log(end);
}

struct Shard {
  Index begin, end;
  double* pairs;
};

template <int M>
CERTUS_INLINE void shard_body(const Parameters& model, const Sequences& data, const Shard& shard, Scratch& scratch,
                              double* log_likelihood, double* posterior) {
  for (Index n = shard.begin; n < shard.end; ++n) {
    const Index begin = data.offsets[n], length = data.offsets[n + 1] - begin;
    double* own = posterior + begin * model.hidden;
    log_likelihood[n] = length ? walk<M>(model, data.labels + begin, data.observations + begin, length, scratch,
                                         data.weights[n], own, shard.pairs)
                               : 0.0;
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
    run_shard(model, data, shard, scratch, log_likelihood, posterior);
  });
  std::fill_n(pairs, size, 0.0);
  for (Index k = 0; k < kShards; ++k)
    for (Index i = 0; i < size; ++i) pairs[i] += sums[k * size + i];
}

}  // namespace certus::refinement
