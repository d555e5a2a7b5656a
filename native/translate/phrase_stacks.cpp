// The usual decoder (Koehn et al. 2003, as in Moses): stacks by the number of words translated, pruned by score plus an
// estimate of what is left, which proves nothing. With `gaps`, a phrase that leaves a gap behind must end within the
// limit of it, as Moses demands; so some derivations are never seen.
#include "base/interrupt.hpp"
#include "translate/phrase_search.hpp"

namespace certus::translate {
namespace {

// The best estimate for each span: phrases with their own words as the only context, or two spans side by side.
std::vector<double> estimate_spans(const PhraseProblem& problem) {
  const Index words = problem.words();
  std::vector<double> best((words + 1) * (words + 1), kNever<double>);
  const PhraseOptions& options = problem.options();
  for (Option o = 0; o < options.size(); ++o) {
    double& place = best[options.begin[o] * (words + 1) + options.end[o]];
    place = std::max(place, problem.extend(kEmpty, o).score);
  }
  for (Index length = 2; length <= words; ++length)
    for (Index b = 0; b + length <= words; ++b)
      for (Index middle = b + 1; middle < b + length; ++middle) {
        double& place = best[b * (words + 1) + b + length];
        place = std::max(place, best[b * (words + 1) + middle] + best[middle * (words + 1) + b + length]);
      }
  return best;
}

template <int W>
class Stacks {
 public:
  Stacks(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options,
         const Stopwatch& watch, Incumbents& found)
      : problem_(problem),
        phrases_(problem.options()),
        terms_(terms),
        options_(options),
        watch_(watch),
        found_(found),
        future_(estimate_spans(problem)),
        layers_(problem.words() + 1),
        starting_(problem.words()) {
    for (Option o = 0; o < phrases_.size(); ++o) {
      covers_.push_back(Coverage<W>::of_span(phrases_.begin[o], phrases_.end[o]));
      starting_[phrases_.begin[o]].push_back(o);
    }
  }

  BeamOutcome run() {
    Hypothesis<W> start{};
    start.state = problem_.begin();
    start.option = -1;
    layers_[0].items.push_back(start);
    for (Index n = 0; n < problem_.words(); ++n) {
      layers_[n].keep_best(options_.size.width);
      layers_[n].forget_slots();
      for (std::uint32_t i = 0; i < layers_[n].items.size(); ++i) {
        if (i % 64 == 0 && watch_.elapsed() > options_.limits.seconds) {
          outcome_.timed_out = true;
          return outcome_;
        }
        expand(n, i);
      }
    }
    finish();
    return outcome_;
  }

 private:
  void expand(Index n, std::uint32_t item) {
    const Hypothesis<W> from = layers_[n].items[item];
    const Index limit = problem_.weights().limit, words = problem_.words(), gap = from.covered.find_gap();
    ++outcome_.expanded;
    const Index first = limit < 0 ? 0 : std::max<Index>(0, from.end - limit);
    const Index last = limit < 0 ? words - 1 : std::min(words - 1, from.end + limit);
    for (Index b = first; b <= last; ++b)
      for (const Option o : starting_[b]) {
        if (from.covered.overlaps(covers_[o])) continue;
        if (options_.gaps && limit >= 0 && b > gap && phrases_.end[o] - gap > limit) continue;
        append(n, item, from, o);
      }
    heed_(100);
  }
  void append(Index n, std::uint32_t item, const Hypothesis<W>& from, Option o) {
    Hypothesis<W> made = from;
    made.covered = from.covered | covers_[o];
    if (!can_return(made.covered, phrases_.end[o], problem_.weights().limit)) return;
    if (!terms_.empty() && (made.terms = terms_.read(from.terms, phrases_.list_text(o))) < 0) return;
    const PhraseProblem::Extension found = problem_.extend(from.state, o);
    made.score = from.score + (problem_.jump(from.end, phrases_.begin[o]) + found.score);
    const double future = estimate(made.covered);
    if (made.score == kNever<double> || future == kNever<double>) return;
    made.bound = made.score + future;
    made.state = found.state;
    made.option = o;
    made.end = phrases_.end[o];
    made.parent = item;
    for (const Word word : phrases_.list_text(o)) made.text = hashing::mix(made.text, word);
    ++outcome_.made;
    layers_[n + phrases_.end[o] - phrases_.begin[o]].add(made, options_.size);
  }
  // What is left, span by span.
  double estimate(const Coverage<W>& covered) const {
    const Index words = problem_.words();
    double total = 0;
    for (Index b = 0; b < words;) {
      if (covered.has(b)) {
        ++b;
        continue;
      }
      Index e = b;
      while (e < words && !covered.has(e)) ++e;
      total += future_[b * (words + 1) + e];
      b = e;
    }
    return total;
  }
  void finish() {
    const auto& items = layers_.back().items;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      if (found_.size() == options_.size.k && items[i].score + problem_.finish(items[i].state) < found_.threshold())
        continue;
      std::vector<Option> derivation;
      std::uint32_t item = i;
      for (Index n = problem_.words(); n > 0;) {
        const Hypothesis<W>& one = layers_[n].items[item];
        derivation.push_back(one.option);
        item = one.parent;
        n -= phrases_.end[one.option] - phrases_.begin[one.option];
      }
      std::reverse(derivation.begin(), derivation.end());
      found_.add(std::move(derivation));
    }
  }

  const PhraseProblem& problem_;
  const PhraseOptions& phrases_;
  const ForbiddenTerms& terms_;
  const SearchOptions& options_;
  const Stopwatch& watch_;
  Incumbents& found_;
  std::vector<double> future_;
  std::vector<HypothesisLayer<W>> layers_;
  std::vector<Coverage<W>> covers_;            // [options]
  std::vector<std::vector<Option>> starting_;  // [words] the options that begin there
  BeamOutcome outcome_;
  Heed heed_;
};

PhraseAnswer run_stacks(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options) {
  const Stopwatch watch;
  PhraseAnswer answer;
  Incumbents found(problem, options.size);
  const BeamOutcome outcome =
      choose_width(problem.words(), [&]<int W> { return Stacks<W>(problem, terms, options, watch, found).run(); });
  answer.expanded = outcome.expanded;
  answer.made = outcome.made;
  answer.timed_out = outcome.timed_out;
  answer.beam_seconds = watch.elapsed();
  answer.best = found.take();
  answer.status = Status::feasible;
  return answer;
}

// Estimates prove nothing, not even that there is no derivation: where stacks hold none, a search with bounds tells.
void prove_infeasible(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options,
                      PhraseAnswer& answer) {
  SearchOptions proof = options;
  proof.size = {};
  proof.limits.seconds = options.limits.seconds - answer.beam_seconds;
  if (search_optimal_beam(problem, terms, proof).status != Status::infeasible) return;
  answer.status = Status::infeasible;
  answer.bound = kNever<double>;
}

}  // namespace

PhraseAnswer search_stacks(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options) {
  PhraseAnswer answer = run_stacks(problem, terms, options);
  if (answer.best.empty()) prove_infeasible(problem, terms, options, answer);
  return answer;
}

PhraseAnswer search_hastily(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options) {
  PhraseWeights weights = problem.weights();
  weights.limit = 0;
  SearchOptions narrow = options;
  narrow.size.width = 10 * options.size.k;
  narrow.limits = {};
  PhraseAnswer answer = run_stacks(PhraseProblem(problem, weights), terms, narrow);
  answer.timed_out = true;
  return answer;
}

}  // namespace certus::translate
