// What all searches for derivations take and return.
#pragma once

#include <functional>
#include <memory>

#include "base/limits.hpp"
#include "base/status.hpp"
#include "translate/forbidden_terms.hpp"
#include "translate/hypotheses.hpp"
#include "translate/phrase_relaxation.hpp"

namespace certus::translate {

struct Derivation {
  std::vector<Option> options;  // from left to right in the target
  double score;
};

// When to stop.
struct SearchLimits {
  double seconds = kNoTimeLimit;
  Index hypotheses = 6'000'000;  // kept at once
};

// Where the gap stood.
struct GapTrace {
  std::vector<double> seconds, bound, score;  // [rounds]
};

// Bounds and scores are sums of the same numbers in different orders: what is below the best by less than this may be
// as good.
inline double find_margin(double score) { return 1e-9 * std::abs(score); }

// The best derivations so far, each once (or each text once).
class Incumbents {
 public:
  Incumbents(const PhraseProblem& problem, const BeamSize& size) : problem_(problem), size_(size) {}

  void add(std::vector<Option> options);
  // What a derivation must reach to be of use.
  double lower() const { return static_cast<Index>(best_.size()) < size_.k ? kNever<double> : best_.back().score; }
  double threshold() const { return lower() == kNever<double> ? lower() : lower() - find_margin(lower()); }
  const Derivation& best() const { return best_.front(); }
  std::vector<Derivation> take() { return std::move(best_); }
  Index size() const { return static_cast<Index>(best_.size()); }

 private:
  bool is_same(const Derivation& a, std::span<const Option> b) const;

  const PhraseProblem& problem_;
  BeamSize size_;
  std::vector<Derivation> best_;
};

struct PhraseAnswer {
  std::vector<Derivation> best;                            // at most k, best first
  double bound = std::numeric_limits<double>::infinity();  // of derivations beside the better ones of these
  Status status = Status::infeasible;
  bool exhausted = false;  // whether these are all there are
  Index rounds = 0, beams = 0, expanded = 0, made = 0, hard = 0;
  double graph_seconds = 0, relaxation_seconds = 0, beam_seconds = 0;
  bool timed_out = false;
  GapTrace trace;

  // Takes what was found, and how much better than that the best of what was left out may be (-inf: nothing was).
  void settle(Incumbents& found, double dropped, Index k);
  // Bounds an answer of a search that had no time to do so, or that does not bound what it leaves out.
  void bound_if_unbounded(const PhraseProblem& problem, Index k);

 private:
  void conclude(double last);  // the score of the k-th best
};

// What one beam did.
struct BeamOutcome {
  double dropped = kNever<double>;  // the best bound of what was left out for lack of room or time
  Index expanded = 0, made = 0;
  bool timed_out = false;
};

struct BeamOptions {
  BeamSize size;
  Deadline deadline;
};

// One pass of beam search under the bounds of a relaxation (Rush et al. 2013, figure 3).
BeamOutcome search_beam(const PhraseRelaxation& relaxation, const std::vector<double>& multipliers,
                        const ForbiddenTerms& terms, const BeamOptions& options, Incumbents& found);

// The searches. Each finds the k best derivations or as many as there are, and a bound of what it did not see.
struct SearchOptions {
  std::string method = "optimal-beam";
  BeamSize size;  // the width is for those that have one
  SearchLimits limits;
  Index rounds = 400;       // of relaxation
  Index first_rounds = 0;   // rounds before a beam of fixed width
  bool from_zero = false;   // whether multipliers begin with 0
  bool gaps = false;        // of the stack decoder: whether a jump must stay within reach of the first gap
  Index pops = 20'000'000;  // of A*
};

// By the method's name; throws std::invalid_argument for sentences that are too long.
PhraseAnswer search_phrases(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options);
PhraseAnswer search_optimal_beam(const PhraseProblem& problem, const ForbiddenTerms& terms,
                                 const SearchOptions& options);
PhraseAnswer search_fixed_beam(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options);
PhraseAnswer search_lagrangian(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options);
PhraseAnswer search_astar(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options);
PhraseAnswer search_stacks(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options);

// A monotone derivation by a narrow stack, which takes little time: what is left when time runs out. It has no bound.
PhraseAnswer search_hastily(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options);

inline constexpr Index kLongestSentence = 512;  // words

// Calls run.template operator()<W>() with as many words of 64 bits as the sentence needs.
template <class Run>
auto choose_width(Index words, const Run& run) {
  if (words <= 64) return run.template operator()<1>();
  if (words <= 128) return run.template operator()<2>();
  if (words <= 256) return run.template operator()<4>();
  return run.template operator()<8>();
}

}  // namespace certus::translate
