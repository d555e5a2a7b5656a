// The problem of bidirectional.hpp without the scores that are in no answer as good as a known one, so that a proof is
// at the scale of the scores that matter: see base/rounding.hpp.
//
// Prices are not above 0, so that the best path of one chain through a choice or a step, and the best path of the other
// chain, bound the answers with it.
#pragma once

#include <memory>

#include "align/choices.hpp"
#include "base/conclusion.hpp"
#include "base/rounding.hpp"
#include "base/stopwatch.hpp"

namespace certus::align {

class Reduction {
 public:
  // Forbids what is in no answer of at least this score; `margin` is what counts as rounding.
  Reduction(const Agreed& problem, double score, double margin);
  Reduction(const Reduction&) = delete;  // the problem points into it
  Reduction& operator=(const Reduction&) = delete;

  const Agreed& problem() const { return problem_; }

 private:
  struct Chain {
    std::vector<double> reached, ahead;  // [words][values]: of the best path up to a choice, and after it
    double best = kNever<double>;
  };

  static Chain run(const Side& side);
  void forbid(int s, const Chain& chain, double least);

  Agreed problem_;
  std::vector<double> choice_[2], step_[2];
};

// Solves a problem by `solve(problem, seconds)`, and again without what the answer rules out while that changes the
// scale; concludes. A solver's bound is at least find_allowance() above its score.
template <class Solve>
auto solve_at_scale(const Agreed& problem, double seconds, const Solve& solve) {
  const Stopwatch stopwatch;
  auto found = solve(problem, seconds);
  double scale = measure_scale(problem), allowance = find_allowance(problem, scale);
  std::unique_ptr<Reduction> reduction;
  while (found.score > kNever<double> && scale > kMixed * sum_magnitudes(problem, {{found.source, found.target}})) {
    reduction = std::make_unique<Reduction>(reduction ? reduction->problem() : problem, found.score, allowance);
    const double before = scale;
    scale = measure_scale(reduction->problem());
    if (2 * scale > before) break;
    allowance = find_allowance(reduction->problem(), scale);
    if (const double left = seconds - stopwatch.elapsed(); left > 0) {
      auto again = solve(reduction->problem(), left);
      found.go_on(std::move(again));
    }
  }
  const Conclusion conclusion = conclude(found.score, found.bound, allowance);
  found.status = conclusion.status;
  found.bound = conclusion.bound;
  return found;
}

}  // namespace certus::align
