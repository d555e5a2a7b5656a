// Optimal beam search (Rush et al. 2013, figure 6): rounds of Lagrangian relaxation, which lower the bound, and beams
// under the bounds that they give, which raise the score, in turns until nothing that a beam left out can be better.
//
// What differs from the paper: the bound is taken under the modified weights (figure 5 returns the score under the
// original ones, which bounds nothing); a beam runs after several rounds, not after each; beams keep what has the best
// bound, not the best score; where they stay too narrow, source words are counted exactly in the relaxation, too.
#include <cmath>
#include <numeric>
#include <optional>

#include "base/interrupt.hpp"
#include "translate/monotone.hpp"
#include "translate/phrase_search.hpp"

namespace certus::translate {
namespace {

// A relaxation and its multipliers, on their way down (Polyak 1987, with the best score for the unknown optimum).
class Descent {
 public:
  Descent(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options)
      : problem_(problem),
        terms_(terms),
        deadline_{{}, options.limits.seconds},
        graph_(problem, deadline_),
        relaxation_(graph_),
        found_(problem, options.size),
        multipliers_(problem.words(), 0),
        best_multipliers_(multipliers_),
        violations_(problem.words(), 0) {
    answer.graph_seconds = deadline_.watch.elapsed();
  }

  PhraseAnswer answer;

  const Deadline& deadline() const { return deadline_; }
  const PhraseRelaxation& relaxation() const { return relaxation_; }
  Incumbents& found() { return found_; }
  bool is_proven() const { return answer.bound <= found_.lower() + find_margin(found_.lower()); }
  bool is_over(const SearchOptions& options) const {
    return is_proven() || answer.rounds >= options.rounds || deadline_.is_over();
  }
  bool is_feasible() const { return bound_ != kNever<double>; }

  // Solves the relaxed problem and takes a step; whether the bound became better by a noticeable part of the gap.
  bool descend() {
    const double began = deadline_.watch.elapsed();
    const double solved = relaxation_.solve(multipliers_);
    solved_ = multipliers_;
    const double bound = std::max(solved, found_.lower());  // what scores less may have been pruned
    current_ = true;
    ++answer.rounds;
    const double gap = bound_ - found_.lower();
    const bool better = bound < bound_;
    const bool notable = bound < bound_ - 0.02 * gap || !std::isfinite(gap);
    if (better) {
      bound_ = bound;
      best_multipliers_ = multipliers_;
      answer.bound = std::min(answer.bound, bound);
      since_ = 0;
    } else if (++since_ % 5 == 0) {
      scale_ *= 0.7;
      multipliers_ = best_multipliers_;
    }
    if (solved != kNever<double>) step(bound);
    answer.relaxation_seconds += deadline_.watch.elapsed() - began;
    note();
    return notable;
  }
  // Notes a monotone derivation, and begins with multipliers that fit it unless they are to be zero.
  void start(bool from_zero) {
    const double began = deadline_.watch.elapsed();
    const std::vector<Option> options = find_monotone(graph_);
    if (!options.empty() && is_allowed(options)) found_.add(options);
    if (!options.empty() && !from_zero) guess_multipliers(options);
    answer.beam_seconds += deadline_.watch.elapsed() - began;
  }
  // A beam under the best multipliers so far.
  BeamOutcome run_beam(const BeamOptions& options) {
    restore();
    const double began = deadline_.watch.elapsed();
    const BeamOutcome outcome = search_beam(relaxation_, best_multipliers_, terms_, options, found_);
    answer.beam_seconds += deadline_.watch.elapsed() - began;
    ++answer.beams;
    answer.expanded += outcome.expanded;
    answer.made += outcome.made;
    answer.bound = std::min(answer.bound, std::max(outcome.dropped, found_.lower()));
    note();
    return outcome;
  }
  // Forgets what no derivation of use can pass through.
  void prune() {
    if (found_.lower() == kNever<double>) return;
    restore();
    const double began = deadline_.watch.elapsed();
    relaxation_.prune(found_.threshold());
    answer.relaxation_seconds += deadline_.watch.elapsed() - began;
  }
  // Counts the words exactly that were wrong most often; whether there were any, and room for them.
  bool tighten(Index count, Index most) {
    std::vector<Index> hard = relaxation_.hard(), order(problem_.words());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return violations_[a] > violations_[b]; });
    const std::size_t before = hard.size();
    for (const Index i : order) {
      if (static_cast<Index>(hard.size()) >= most || hard.size() == before + count || violations_[i] == 0) break;
      if (std::find(hard.begin(), hard.end(), i) != hard.end()) continue;
      if (std::any_of(hard.begin() + static_cast<Index>(before), hard.end(),
                      [&](Index other) { return std::abs(other - i) == 1; }))
        continue;  // neighbours are mostly wrong together
      hard.push_back(i);
    }
    std::fill(violations_.begin(), violations_.end(), 0);
    const double cells = static_cast<double>((problem_.words() + graph_.longest + 1) * graph_.rows()) *
                         std::ldexp(1.0, static_cast<int>(hard.size()));
    if (hard.size() == before || cells > kMostCells) return false;
    answer.hard = static_cast<Index>(hard.size());
    relaxation_.tighten(std::move(hard));
    current_ = false;
    multipliers_ = best_multipliers_;
    scale_ = 1;
    since_ = 0;
    return true;
  }
  PhraseAnswer conclude(const SearchOptions& options) {
    answer.timed_out = deadline_.is_over();
    answer.settle(found_, answer.bound, options.size.k);
    return std::move(answer);
  }

 private:
  // Each word of a derivation takes what its phrase gives per word, so that no word is more worth than another; an
  // unknown word, which costs much, is then no reason to translate others twice instead.
  void guess_multipliers(const std::vector<Option>& options) {
    State state = problem_.begin();
    Index end = 0;
    double total = 0;
    for (const Option o : options) {
      const PhraseProblem::Extension made = problem_.extend(state, o);
      const Index begin = problem_.options().begin[o];
      const double score = made.score + problem_.jump(end, begin);
      end = problem_.options().end[o];
      for (Index i = begin; i < end; ++i) multipliers_[i] = score / static_cast<double>(end - begin);
      total += score;
      state = made.state;
    }
    for (double& u : multipliers_) u -= total / static_cast<double>(multipliers_.size());
  }

  static constexpr double kMostCells = 8e7;  // of outside scores: 640 MB

  void note() {
    answer.trace.seconds.push_back(deadline_.watch.elapsed());
    answer.trace.bound.push_back(answer.bound);
    answer.trace.score.push_back(found_.lower());
  }
  void restore() {
    if (current_ && solved_ == best_multipliers_) return;
    relaxation_.solve(best_multipliers_);
    solved_ = best_multipliers_;
    current_ = true;
  }
  // Offers the path of the relaxed problem if it is a derivation, and moves against what it violates.
  void step(double bound) {
    const std::vector<Option> path = relaxation_.find_path();
    std::vector<double> wrong(problem_.words(), -1);
    for (const Option o : path)
      for (Index i = problem_.options().begin[o]; i < problem_.options().end[o]; ++i) wrong[i] += 1;
    double norm = 0;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      norm += wrong[i] * wrong[i];
      violations_[i] += wrong[i] != 0;
    }
    if (norm == 0) {
      if (problem_.is_valid(path) && is_allowed(path)) found_.add(path);
      return;
    }
    const double lower = std::isfinite(found_.lower()) ? found_.lower() : bound - 1 - 0.05 * std::abs(bound);
    const double size = scale_ * std::max(bound - lower, 1e-6) / norm;
    for (std::size_t i = 0; i < wrong.size(); ++i) multipliers_[i] += size * wrong[i];
  }
  bool is_allowed(const std::vector<Option>& path) const {
    std::int32_t state = 0;
    for (const Option o : path)
      if (state >= 0) state = terms_.read(state, problem_.options().list_text(o));
    return state >= 0;
  }

  const PhraseProblem& problem_;
  const ForbiddenTerms& terms_;
  Deadline deadline_;
  PhraseGraph graph_;
  PhraseRelaxation relaxation_;
  Incumbents found_;
  std::vector<double> multipliers_, best_multipliers_, solved_;  // solved_: those of the outside scores at hand
  std::vector<Index> violations_;
  double bound_ = std::numeric_limits<double>::infinity();
  double scale_ = 1;
  Index since_ = 0;
  bool current_ = false;
};

BeamOptions make_beam(const SearchOptions& options, Index width, const Deadline& deadline) {
  BeamOptions made;
  made.size = options.size;
  made.size.width = width;
  made.deadline = deadline;
  return made;
}

// Solves the relaxed problem once and goes on by `steps`; what is found when time runs out is the answer.
template <class Steps>
PhraseAnswer descend_by(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options,
                        bool from_zero, const Steps& steps) {
  std::optional<Descent> descent;
  try {
    descent.emplace(problem, terms, options);
    descent->start(from_zero);
    descent->descend();
    if (descent->is_feasible()) steps(*descent);
  } catch (const OutOfTime&) {
    if (!descent || descent->found().size() == 0) {
      PhraseAnswer answer = search_hastily(problem, terms, options);
      if (descent) answer.bound = descent->answer.bound;
      return answer;
    }
  }
  return descent->conclude(options);
}

}  // namespace

PhraseAnswer search_optimal_beam(const PhraseProblem& problem, const ForbiddenTerms& terms,
                                 const SearchOptions& options) {
  return descend_by(problem, terms, options, false, [&](Descent& descent) {
    if (options.size.k > 1) descent.run_beam(make_beam(options, 2 * options.size.k, descent.deadline()));
    descent.run_beam(make_beam(options, 20 * options.size.k, descent.deadline()));
    const Index widest = std::max<Index>(1000, options.limits.hypotheses / (problem.words() + 1));
    Index width = 200 * options.size.k;
    for (Index stage = 0; !descent.is_over(options); ++stage) {
      const Index rounds = stage == 0 ? 1 : stage < 3 ? 4 : 10;  // a beam costs less than a round at first
      Index idle = 0;
      for (Index n = 0; n < rounds && idle < 6 && !descent.is_over(options); ++n) {
        if (n % 4 == 0) descent.prune();
        idle = descent.descend() ? 0 : idle + 1;
      }
      if (descent.is_over(options)) break;
      const BeamOutcome outcome = descent.run_beam(make_beam(options, width, descent.deadline()));
      if (outcome.dropped == kNever<double> || outcome.timed_out) break;
      width = std::min((stage < 3 ? 2 : 4) * width, widest);
      if (stage >= 3) descent.tighten(2, 6);
    }
  });
}

PhraseAnswer search_fixed_beam(const PhraseProblem& problem, const ForbiddenTerms& terms,
                               const SearchOptions& options) {
  return descend_by(problem, terms, options, true, [&](Descent& descent) {
    for (Index n = 0; n < options.first_rounds && !descent.is_proven(); ++n) descent.descend();
    descent.run_beam(make_beam(options, options.size.width, descent.deadline()));
  });
}

PhraseAnswer search_lagrangian(const PhraseProblem& problem, const ForbiddenTerms& terms,
                               const SearchOptions& options) {
  return descend_by(problem, terms, options, options.from_zero, [&](Descent& descent) {
    descent.run_beam(make_beam(options, 20 * options.size.k, descent.deadline()));
    while (!descent.is_over(options)) {
      Index idle = 0;
      while (idle < 10 && !descent.is_over(options)) idle = descent.descend() ? 0 : idle + 1;
      if (!descent.is_over(options) && !descent.tighten(3, PhraseRelaxation::kMostHard)) break;
    }
  });
}

}  // namespace certus::translate
