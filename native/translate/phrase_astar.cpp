// A* over (words translated, last phrase, state), with the outside scores of the relaxed problem under no multipliers,
// and a cap on what is taken from the queue: a baseline of Rush et al. 2013, 7.2.
#include <queue>

#include "translate/phrase_expander.hpp"

namespace certus::translate {
namespace {

template <int W>
class Astar {
 public:
  Astar(const PhraseRelaxation& relaxation, const ForbiddenTerms& terms, const SearchOptions& options,
        const Deadline& deadline, Incumbents& found)
      : problem_(relaxation.graph().problem()),
        expander_(relaxation, std::vector<double>(problem_.words(), 0), terms, options.size.distinct),
        options_(options),
        deadline_(deadline),
        found_(found) {}

  BeamOutcome run() {
    push(0, expander_.make_start());
    BeamOutcome outcome;
    while (!queue_.empty()) {
      const Entry top = queue_.top();
      if (top.bound < found_.threshold()) break;
      outcome.timed_out = outcome.expanded % 256 == 0 && deadline_.is_over();
      const bool full = static_cast<Index>(pool_.size()) > options_.limits.hypotheses * 2;
      if (outcome.expanded >= options_.pops || outcome.timed_out || full) {
        outcome.dropped = top.bound;
        break;
      }
      queue_.pop();
      ++outcome.expanded;
      const Hypothesis<W> from = pool_[top.item];
      if (top.words == problem_.words()) {
        found_.add(list_options(top.item));
        continue;
      }
      if (is_repeated(from)) continue;
      expander_.expand(top.words, top.item, from, found_.threshold(), *this);
    }
    outcome.made = static_cast<Index>(pool_.size());
    return outcome;
  }

  // What the expander asks.
  static bool ignores(Index, double) { return false; }
  static bool wants(Index, double) { return true; }
  void take(Index n, const Hypothesis<W>& made) { push(n, made); }

 private:
  struct Entry {
    double bound;
    std::uint32_t item;
    Index words;
    bool operator<(const Entry& other) const {
      return bound != other.bound   ? bound < other.bound
             : words != other.words ? words < other.words
                                    : item < other.item;
    }
  };
  struct Seen {
    double score;
    std::uint64_t text;
  };
  struct Hash {
    std::size_t operator()(const Hypothesis<W>& x) const { return x.hash(); }
  };
  struct Same {
    bool operator()(const Hypothesis<W>& a, const Hypothesis<W>& b) const { return a.has_future_of(b); }
  };

  // Whether k with the same future were taken from the queue that score no less. What is taken first need not be the
  // best: bounds look at the last phrase, which those with one future need not share.
  bool is_repeated(const Hypothesis<W>& from) {
    std::vector<Seen>& seen = seen_[from];
    const auto counts = [&](const Seen& other) { return other.score >= from.score; };
    if (options_.size.distinct) {
      if (std::any_of(seen.begin(), seen.end(), [&](const Seen& x) { return x.text == from.text && counts(x); }))
        return true;
    } else if (std::count_if(seen.begin(), seen.end(), counts) >= options_.size.k) {
      return true;
    }
    seen.push_back({from.score, from.text});
    return false;
  }
  void push(Index n, const Hypothesis<W>& made) {
    queue_.push({made.bound, static_cast<std::uint32_t>(pool_.size()), n});
    pool_.push_back(made);
  }
  std::vector<Option> list_options(std::uint32_t item) const {
    std::vector<Option> options;
    for (; pool_[item].option >= 0; item = pool_[item].parent) options.push_back(pool_[item].option);
    std::reverse(options.begin(), options.end());
    return options;
  }

  const PhraseProblem& problem_;
  PhraseExpander<W> expander_;
  const SearchOptions& options_;
  const Deadline& deadline_;
  Incumbents& found_;
  std::vector<Hypothesis<W>> pool_;
  std::priority_queue<Entry> queue_;
  std::unordered_map<Hypothesis<W>, std::vector<Seen>, Hash, Same> seen_;
};

}  // namespace

PhraseAnswer search_astar(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options) {
  const Deadline deadline{{}, options.limits.seconds};
  PhraseAnswer answer;
  Incumbents found(problem, options.size);
  try {
    const PhraseGraph graph(problem, deadline);
    PhraseRelaxation relaxation(graph);
    answer.graph_seconds = deadline.watch.elapsed();
    answer.bound = relaxation.solve(std::vector<double>(problem.words(), 0));
    answer.rounds = 1;
    answer.relaxation_seconds = deadline.watch.elapsed() - answer.graph_seconds;
    if (answer.bound == kNever<double>) return answer;
    const BeamOutcome outcome = choose_width(
        problem.words(), [&]<int W> { return Astar<W>(relaxation, terms, options, deadline, found).run(); });
    answer.expanded = outcome.expanded;
    answer.made = outcome.made;
    answer.timed_out = outcome.timed_out;
    answer.beam_seconds = deadline.watch.elapsed() - answer.graph_seconds - answer.relaxation_seconds;
    answer.settle(found, outcome.dropped, options.size.k);
  } catch (const OutOfTime&) {
    return search_hastily(problem, terms, options);
  }
  return answer;
}

}  // namespace certus::translate
