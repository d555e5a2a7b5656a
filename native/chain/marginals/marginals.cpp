// The forward-backward algorithm (Rabiner 1989, section III.A) and forward filtering, backward sampling.
//
// alpha[t] and beta[t] are kept as logarithms relative to the largest of their position, which costs an
// exponential and a logarithm a label more than scaled probabilities but never loses a label that is improbable
// from one side and certain from the other.
#include "chain/marginals/marginals.hpp"

#include "chain/marginals/log_sums.hpp"

namespace certus {
namespace {

template <class S>
class Nodes {
 public:
  Nodes(const Model<S>& model, const Sentence<S>& sentence) : model_(model), sentence_(sentence) {}

  // x[y] += what label y contributes at position t by itself.
  void add(Index t, double* x) const {
    add(sentence_.data + t * sentence_.stride, x);
    if (t == 0 && model_.start()) add(model_.start(), x);
    if (t == sentence_.length - 1 && model_.end()) add(model_.end(), x);
  }

 private:
  void add(const S* row, double* x) const {
    for (Index y = 0; y < model_.labels(); ++y) x[y] += static_cast<double>(row[y]);
  }

  const Model<S>& model_;
  const Sentence<S>& sentence_;
};

// Makes the largest of x 0 and returns what it was.
double normalise(double* x, Index n) {
  const double most = largest(x, n);
  if (most != kNever<double>) subtract(x, most, n);
  return most;
}

// alpha[t][y]: the logarithm of the sum over the prefixes that end in label y at position t, less the largest one
// of the position.
template <class S, class Sums>
Summary filter(const Nodes<S>& nodes, Sums& sums, Index T, Index L, double* alpha) {
  Summary summary;
  for (Index t = 0; t < T; ++t) {
    double* now = alpha + t * L;
    if (t == 0) std::fill(now, now + L, 0.0);
    else sums.forward(t - 1, now - L, now);
    nodes.add(t, now);
    const double most = normalise(now, L);
    if (most == kNever<double>) return {Status::infeasible, t, -1, most};
    summary.log_partition += most;
  }
  double sum = 0;
  for (Index y = 0; y < L; ++y) sum += std::exp(alpha[(T - 1) * L + y]);
  summary.log_partition += std::log(sum);
  return summary;
}

// Turns alpha into probabilities, last position first.
template <class S, class Sums>
void smooth(const Nodes<S>& nodes, Sums& sums, Index T, Index L, double* alpha, Arena& arena) {
  double* beta = arena.get<double>(L, 0.0);
  double* onward = arena.get<double>(L);
  for (Index t = T - 1;; --t) {
    double* p = alpha + t * L;
    const double most = max_sum(p, beta, L);
    double sum = 0;
    for (Index y = 0; y < L; ++y) sum += p[y] = std::exp(p[y] + beta[y] - most);
    for (Index y = 0; y < L; ++y) p[y] /= sum;
    if (t == 0) return;
    std::copy_n(beta, L, onward);
    nodes.add(t, onward);
    normalise(onward, L);
    sums.backward(t - 1, onward, beta);
  }
}

// Draws label[t] for all samples, last position first. Those that go to the same label share their weights, and
// are found by one sort, so that the exponentials are those of the labels that occur and not of the samples.
template <class Sums>
class Sampler {
 public:
  Sampler(const Sums& sums, const double* alpha, Index T, Index L, Index count, Arena& arena)
      : sums_(sums),
        alpha_(alpha),
        T_(T),
        L_(L),
        count_(count),
        cumulative_(arena.get<double>(L)),
        begin_(arena.get<Index>(L + 1)),
        order_(arena.get<Index>(count)) {}

  void run(const double* uniforms, Index* paths) {
    std::fill(cumulative_, cumulative_ + L_, 0.0);
    weigh(T_ - 1);
    for (Index n = 0; n < count_; ++n) draw(n, T_ - 1, uniforms, paths);
    for (Index t = T_ - 2; t >= 0; --t) {
      group(t + 1, paths);
      for (Index n = 0; n < count_; ++n) {
        const Label next = static_cast<Label>(paths[order_[n] * T_ + t + 1]);
        if (n == 0 || next != paths[order_[n - 1] * T_ + t + 1]) {
          sums_.column(t, next, cumulative_);
          weigh(t);
        }
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
  double* cumulative_;  // [L]
  Index* begin_;        // [L + 1]
  Index* order_;        // [count]
};

// Whether summing the listed transitions one by one is faster than summing all of them in vectors.
template <class S>
bool few_listed(const Model<S>& model) {
  const Index L = model.labels();
  return model.has_sparse() && 32 * model.sparse().row_begin[L] < L * L;
}

// Checks the sentence and calls work(nodes, sums, arena) with the sums that fit the model.
template <class S, class Work>
Summary prepare(const Model<S>& model, const Sentence<S>& sentence, const Work& work) {
  if (sentence.length == 0) return {};
  const Result bad = invalid(sentence, model.labels());
  if (bad.status == Status::invalid) return {Status::invalid, bad.position, bad.found, 0};
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  const Nodes<S> nodes(model, sentence);
  if (model.only_sparse() || few_listed(model)) {
    SparseSums<S> sums(model, arena);
    return work(nodes, sums, arena);
  }
  DenseSums<S> sums(model, arena);
  return work(nodes, sums, arena);
}

}  // namespace

template <class S>
Summary marginals(const Model<S>& model, const Sentence<S>& sentence, double* probabilities) {
  const Index T = sentence.length, L = model.labels();
  return prepare(model, sentence, [&](const auto& nodes, auto& sums, Arena& arena) {
    const Summary summary = filter(nodes, sums, T, L, probabilities);
    if (summary.status == Status::optimal) smooth(nodes, sums, T, L, probabilities, arena);
    return summary;
  });
}

template <class S>
Summary sample(const Model<S>& model, const Sentence<S>& sentence, const double* uniforms, Index count, Index* paths) {
  const Index T = sentence.length, L = model.labels();
  return prepare(model, sentence, [&](const auto& nodes, auto& sums, Arena& arena) {
    double* alpha = arena.get<double>(T * L);
    const Summary summary = filter(nodes, sums, T, L, alpha);
    if (summary.status == Status::optimal) Sampler(sums, alpha, T, L, count, arena).run(uniforms, paths);
    return summary;
  });
}

template <class S>
void path_scores(const Model<S>& model, const Sentence<S>& sentence, const Index* paths, Index count, double* scores) {
  const Index T = sentence.length;
  Arena& arena = Arena::local();
  const Arena::Scope scope(arena);
  const auto score = [&](const auto& transitions) {
    const Trellis trellis(sentence.data, T, sentence.stride, model, transitions, arena);
    for (Index n = 0; n < count; ++n) scores[n] = trellis.score(paths + n * T);
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
