#include "latent/refinement/paths.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/parallel.hpp"
#include "base/scaling.hpp"

namespace certus::refinement {
namespace {

inline constexpr Index kTogether = 64;  // sentences of one piece of work

struct Span {
  Index begin, end;
};

Span states(const Operators& model, Index label) { return {model.begin[label], model.begin[label + 1]}; }

// to = from (diag(gain) M), from the states of one label to those of another.
void step(const Operators& model, Index x, Span here, Span there, const double* from, double* to) {
  const double* M = model.matrices + model.matrix[x] * model.states * model.states;
  const double* gain = model.gain ? model.gain + x * model.states : nullptr;
  std::fill_n(to, there.end - there.begin, 0.0);
  for (Index i = here.begin; i < here.end; ++i) {
    const double value = from[i - here.begin] * (gain ? gain[i] : 1.0);
    const double* row = M + i * model.states + there.begin;
    for (Index j = 0; j < there.end - there.begin; ++j) to[j] += value * row[j];
  }
}

void walk(const Operators& model, const Index* seen, const Index* labels, Index length, double* now, double* next,
          double& log_size, double& sign) {
  Span here = states(model, labels[0]);
  std::copy(model.start + here.begin, model.start + here.end, now);
  Index exponent = normalise(now, here.end - here.begin);
  for (Index t = 0; t + 1 < length; ++t) {
    const Span there = states(model, labels[t + 1]);
    step(model, seen[t], here, there, now, next);
    exponent += normalise(next, there.end - there.begin);
    std::swap(now, next);
    here = there;
  }
  const double* finish = model.finish + seen[length - 1] * model.states + here.begin;
  double total = 0;
  for (Index i = 0; i < here.end - here.begin; ++i) total += now[i] * finish[i];
  sign = (total > 0) - (total < 0);
  if (total != 0) log_size = std::log(std::abs(total)) + static_cast<double>(exponent) * std::numbers::ln2;
}

}  // namespace

void path_masses(const Operators& model, const Index* observations, const Index* labels, const Index* offsets,
                 Index sentences, Index threads, double* log_size, double* sign) {
  parallel((sentences + kTogether - 1) / kTogether, threads, [&](Index piece, Index) {
    std::vector<double> now(model.states), next(model.states);
    const Index end = std::min(sentences, (piece + 1) * kTogether);
    for (Index n = piece * kTogether; n < end; ++n) {
      const Index begin = offsets[n], length = offsets[n + 1] - begin;
      log_size[n] = kNever<double>, sign[n] = 0;
      if (length > 0)
        walk(model, observations + begin, labels + begin, length, now.data(), next.data(), log_size[n], sign[n]);
    }
  });
}

}  // namespace certus::refinement
