// The forward-backward algorithm (Rabiner 1989, section III.A) and forward filtering, backward sampling.
//
// alpha[t] and beta[t] are kept as logarithms relative to the largest of their position, which costs an
// exponential and a logarithm per label more than scaled probabilities but never loses a label that is improbable
// from one side and certain from the other.
#include "chain/marginals/marginals.hpp"

#include "chain/marginals/chain_steps.hpp"
#include "chain/marginals/log_sums.hpp"

namespace certus {
namespace {

// The sums over the paths of a sentence; what smoothing collects are probabilities, in the place of alpha.
template <class S, class Sums>
class Smoothing : public ChainSteps<Smoothing<S, Sums>, RelativeLogs, S, Sums> {
 public:
  using Smoothing::ChainSteps::ChainSteps;

  void collect(Index, double* p, const double* beta) const {
    const Index L = this->width();
    const double most = max_sum(p, beta, L);
    double sum = 0;
    for (Index y = 0; y < L; ++y) sum += p[y] = std::exp(p[y] + beta[y] - most);
    for (Index y = 0; y < L; ++y) p[y] /= sum;
  }
};

// Fills alpha, and says what all paths come to.
template <class Steps>
Summary filter(Steps& steps, Index T) {
  const Index died = run_forward(steps, T);
  if (died < T) return {Status::infeasible, died, -1, kNever<double>};
  double sum = 0;
  for (Index y = 0; y < steps.width(); ++y) sum += std::exp(steps.alpha(T - 1)[y]);
  return {Status::optimal, -1, -1, steps.total.log() + std::log(sum)};
}

// Draws label[t] for all samples, last position first. Those that go to the same label share their weights, and
// are found by one sort, so that the exponentials are those of the labels that occur and not of the samples.
template <class Sums>
class Sampler {
 public:
  Sampler(const Sums& sums, const double* alpha, Index T, Index L, Index count, Arena& arena)
      : sums_(sums), alpha_(alpha), T_(T), L_(L), count_(count), arena_(arena) {}

  void run(const double* uniforms, Index* paths) {
    std::fill(cumulative_, cumulative_ + L_, 0.0);
    weigh(T_ - 1);
    for (Index n = 0; n < count_; ++n) draw(n, T_ - 1, uniforms, paths);
    Heed heed;
    for (Index t = T_ - 2; t >= 0; --t) {
      group(t + 1, paths);
      for (Index n = 0; n < count_; ++n) {
        const Label next = static_cast<Label>(paths[order_[n] * T_ + t + 1]);
        if (n == 0 || next != paths[order_[n - 1] * T_ + t + 1]) {
          sums_.column(t, next, cumulative_);
          weigh(t);
          heed(16 * L_);
        }
        heed(16);
        draw(order_[n], t, uniforms, paths);
      }
    }
  }

 private:
  // Sorts the samples by their label at position t.
  void group(Index t, const Index* paths) {
    std::fill(begin_, begin_ + L_ + 1, Index{0});
    for (Index n = 0; n < count_; ++n) ++begin_[paths[n * T_ + t] + 1];
    for (Index y = 0; y < L_; ++y) begin_[y + 1] += begin_[y];
    for (Index n = 0; n < count_; ++n) order_[begin_[paths[n * T_ + t]]++] = n;
  }

  // From the scores of going on, in `cumulative`, to the running sums of the weights at position t.
  void weigh(Index t) {
    const double* alpha = alpha_ + t * L_;
    const double most = max_sum(alpha, cumulative_, L_);
    double sum = 0;
    for (Index y = 0; y < L_; ++y) cumulative_[y] = sum += std::exp(alpha[y] + cumulative_[y] - most);
  }

  // The first label whose running sum exceeds its share: one of weight 0 never does.
  void draw(Index n, Index t, const double* uniforms, Index* paths) const {
    const double *begin = cumulative_, *end = begin + L_;
    const double total = end[-1], share = std::max(0.0, uniforms[n * T_ + t]) * total;
    const double* found = share < total ? std::upper_bound(begin, end, share)
                                        : std::lower_bound(begin, end, total);  // rounded up to everything
    paths[n * T_ + t] = found - begin;
  }

  const Sums& sums_;
  const double* alpha_;  // [T][L]
  Index T_, L_, count_;
  Arena& arena_;
  double* cumulative_ = arena_.get<double>(L_);
  Index *begin_ = arena_.get<Index>(L_ + 1), *order_ = arena_.get<Index>(count_);
};

// Whether summing the listed transitions one by one is faster than summing all of them in vectors.
template <class S>
bool lists_few(const Model<S>& model) {
  const Index L = model.labels();
  return model.has_sparse() && 32 * model.sparse().row_begin[L] < L * L;
}

// Checks the sentence, fills alpha [T][L], and calls work(steps, sums) with what fits the model where there is a path.
template <class S, class Work>
Summary sum_paths(const Model<S>& model, const Sentence<S>& sentence, double* alpha, Arena& arena, const Work& work) {
  const Result bad = check_scores<double>(sentence, model);
  if (bad.status == Status::invalid) return {Status::invalid, bad.position, bad.label, 0};
  const auto sum = [&](auto sums) {
    Smoothing<S, decltype(sums)> steps(model, sentence, sums, alpha, arena);
    const Summary summary = filter(steps, sentence.length);
    if (summary.status == Status::optimal) work(steps, sums);
    return summary;
  };
  if (model.only_sparse() || lists_few(model)) return sum(SparseSums<S>(model, arena));
  return sum(DenseSums<S>(model, arena));
}

}  // namespace

template <class S>
Summary marginals(const Model<S>& model, const Sentence<S>& sentence, double* probabilities) {
  if (sentence.length == 0) return {};
  const LocalArena arena;
  return sum_paths(model, sentence, probabilities, arena,
                   [&](auto& steps, auto&) { run_backward(steps, sentence.length); });
}

template <class S>
Summary sample(const Model<S>& model, const Sentence<S>& sentence, const double* uniforms, Index count, Index* paths) {
  const Index T = sentence.length, L = model.labels();
  if (T == 0) return {};
  const LocalArena arena;
  double* alpha = arena.get<double>(T * L);
  return sum_paths(model, sentence, alpha, arena,
                   [&](auto&, auto& sums) { Sampler(sums, alpha, T, L, count, arena).run(uniforms, paths); });
}

template <class S>
void path_scores(const Model<S>& model, const Sentence<S>& sentence, const Index* paths, Index count, double* scores) {
  const Index T = sentence.length;
  const LocalArena arena;
  const auto score = [&](const auto& transitions) {
    const Trellis trellis(sentence.data, T, sentence.stride, model, transitions, arena);
    Heed heed;
    for (Index n = 0; n < count; ++n, heed(4 * T)) scores[n] = trellis.score(paths + n * T);
  };
  if (T == 0) std::fill(scores, scores + count, 0.0);
  else if (model.only_sparse()) score(model.sparse());
  else score(model.dense());
}

#define CERTUS_MARGINALS(S)                                                                   \
  template Summary marginals(const Model<S>&, const Sentence<S>&, double*);                   \
  template Summary sample(const Model<S>&, const Sentence<S>&, const double*, Index, Index*); \
  template void path_scores(const Model<S>&, const Sentence<S>&, const Index*, Index, double*);
CERTUS_MARGINALS(float)
CERTUS_MARGINALS(double)

}  // namespace certus
