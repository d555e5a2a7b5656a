// Forward and backward Viterbi passes. A path through label y at position t is the best prefix that ends there and
// the best suffix that starts there.
#include "chain/marginals/max_marginals.hpp"

#include "chain/marginals/chain_steps.hpp"

namespace certus {
namespace {

// One step of the best paths, with the interface of log_sums.hpp.
class LargestSums {
 public:
  LargestSums(const Model<double>& model, Arena& arena) : model_(model), buffer_(arena.get<double>(model.labels())) {}

  void forward(Index t, const double* x, double* out) const {
    std::fill_n(out, model_.labels(), kNever<double>);
    for (Label i = 0; i < model_.labels(); ++i)
      if (x[i] != kNever<double>) raise(out, x[i], row(t, i), model_.labels());
  }
  void backward(Index t, const double* x, double* out) const {
    for (Label i = 0; i < model_.labels(); ++i) out[i] = max_sum(row(t, i), x, model_.labels());
  }

 private:
  const double* row(Index t, Label from) const {
    return model_.only_sparse() ? model_.sparse().row(t, from, buffer_) : model_.dense().row(t, from, nullptr);
  }

  const Model<double>& model_;
  double* buffer_;  // [L]: a row of listed transitions, written out
};

class BestPaths : public ChainSteps<BestPaths, MaxPlus, double, LargestSums> {
 public:
  using ChainSteps::ChainSteps;

  void collect(Index, double* best, const double* suffix) const {
    for (Index y = 0; y < width(); ++y) best[y] += suffix[y];
  }
};

}  // namespace

void max_marginals(const Model<double>& model, const Sentence<double>& sentence, double* best) {
  if (sentence.length == 0) return;
  const LocalArena arena;
  LargestSums sums(model, arena);
  BestPaths steps(model, sentence, sums, best, arena);
  run_forward(steps, sentence.length);
  run_backward(steps, sentence.length);
}

}  // namespace certus
