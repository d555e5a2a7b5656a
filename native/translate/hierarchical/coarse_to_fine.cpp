// The best derivation, from coarse to fine: cube pruning finds a good one; bounds that know the first and last words of
// nodes leave few items that may be part of a better one; these are searched exactly.
#include "base/interrupt.hpp"
#include "translate/hierarchical/coarse_forest.hpp"
#include "translate/hierarchical/hook_search.hpp"

namespace certus::translate {

ForestAnswer search_coarse_to_fine(const ForestProblem& problem, const ForestOptions& options) {
  ForestAnswer answer;
  const Stopwatch watch;
  ForestIncumbents found(options);
  find_incumbents(problem, options, found, answer);
  const double threshold = found.threshold(), before = watch.elapsed();
  CoarseForest coarse(problem, threshold);
  answer.relaxation_seconds = watch.elapsed() - before;
  double unseen = coarse.find_bound(threshold);
  HookSearch search(problem, coarse.prefixes, coarse.scores, coarse.bounds, options, watch);
  answer.timed_out = !search.run(threshold, found, answer);
  if (!answer.timed_out) unseen = threshold;
  answer.beams = 1;
  answer.beam_seconds = watch.elapsed() - answer.relaxation_seconds;
  found.settle(unseen, answer);
  return answer;
}

}  // namespace certus::translate
