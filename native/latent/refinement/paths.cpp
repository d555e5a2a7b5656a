#include "latent/refinement/paths.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/forward_backward.hpp"
#include "base/numbers.hpp"
#include "base/parallel.hpp"

namespace certus::latent::refinement {
namespace {

inline constexpr Index kTogether = 64;  // sentences of one piece of work

// The hidden states of one label, at each position of a sentence.
class PathsOfLabels : public StepsOver<PathsOfLabels, PowersOfTwo> {
 public:
  PathsOfLabels(const Operators& model, const Index* seen, const Index* labels, double* rows)
      : model_(model), seen_(seen), labels_(labels), rows_(rows) {}

  double* alpha(Index t) const { return rows_ + t % 2 * model_.states; }
  void begin(double* alpha) const { std::copy(model_.start + first(0), model_.start + first(0) + count(0), alpha); }

  // to = from (diag(gain) M), from the states of one label to those of another.
  void forward(Index t, const double* from, double* to) const {
    const Index x = seen_[t - 1], here = first(t - 1);
    const double* M = model_.matrices + model_.matrix[x] * model_.states * model_.states;
    const double* gain = model_.gain ? model_.gain + x * model_.states : nullptr;
    std::fill_n(to, count(t), 0.0);
    for (Index i = 0; i < count(t - 1); ++i) {
      const double value = from[i] * (gain ? gain[here + i] : 1.0);
      const double* row = M + (here + i) * model_.states + first(t);
      for (Index j = 0; j < count(t); ++j) to[j] += value * row[j];
    }
  }
  bool settle(Index t, double* alpha) {
    PowersOfTwo::rescale(alpha, count(t), total);
    return true;
  }

  // The last row times what ends a sentence.
  double end(Index t) const {
    const double* finish = model_.finish + seen_[t] * model_.states + first(t);
    double sum = 0;
    for (Index i = 0; i < count(t); ++i) sum += alpha(t)[i] * finish[i];
    return sum;
  }

 private:
  Index first(Index t) const { return model_.begin[labels_[t]]; }
  Index count(Index t) const { return model_.begin[labels_[t] + 1] - first(t); }

  const Operators& model_;
  const Index *seen_, *labels_;
  double* rows_;  // [2][states]
};

}  // namespace

void path_masses(const Operators& model, const Index* observations, const Index* labels, const Index* offsets,
                 Index sentences, Index threads, double* log_size, double* sign) {
  parallel((sentences + kTogether - 1) / kTogether, threads, [&](Index piece, Index) {
    std::vector<double> rows(2 * model.states);
    const Index end = std::min(sentences, (piece + 1) * kTogether);
    for (Index n = piece * kTogether; n < end; ++n) {
      const Index begin = offsets[n], length = offsets[n + 1] - begin;
      log_size[n] = kNever<double>, sign[n] = 0;
      if (length == 0) continue;
      PathsOfLabels steps(model, observations + begin, labels + begin, rows.data());
      run_forward(steps, length);
      const double total = steps.end(length - 1);
      sign[n] = (total > 0) - (total < 0);
      if (total != 0) log_size[n] = std::log(std::abs(total)) + steps.total.log();
    }
  });
}

}  // namespace certus::latent::refinement
