// The best answer of a problem, with proof: the dual is minimised, variables that cannot matter are fixed by bounds,
// reserves are switched on where the relaxation is loose, and where a gap stays the search branches.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "relax/depth_first.hpp"
#include "relax/dual.hpp"
#include "relax/optimizer.hpp"
#include "relax/proximal.hpp"
#include "relax/rounding.hpp"
#include "relax/separators.hpp"
#include "relax/watch.hpp"

namespace certus::relax {

struct SearchLimits {
  double seconds = std::numeric_limits<double>::infinity();
  Index nodes = std::numeric_limits<Index>::max();
  double tolerance = 1e-12;  // the gap, in shares of the numbers added up, that counts as rounding
  Index iterations = -1;     // over all nodes; -1 for the usual number in each
  bool whole = false;        // all scores, times weights, are whole numbers: bounds are rounded down
  bool tighten = true;       // whether variables are fixed by bounds and reserves switched on
};

// Why a search ended: nothing is left to be searched, a limit, or an error. It proves nothing: score and bound do.
enum class SearchEnd : std::uint8_t { searched, seconds, nodes, iterations, failed };

// How the search stood after each evaluation of the dual.
struct SearchTrace {
  std::vector<double> seconds;
  std::vector<double> dual;    // the bound that this evaluation proved, together with that of the other open nodes,
  std::vector<double> bound;   // and the best so far
  std::vector<double> primal;  // the best score found at this time, NaN for none,
  std::vector<double> score;   // and so far
  std::vector<double> step;    // that led here
  std::vector<Index> nodes;
};

// What a search of the same problem, stated otherwise, had found when it ended.
struct EarlierSearch {
  double seconds = 0;  // from its start to that of the next one
  double bound = std::numeric_limits<double>::infinity();
  Index nodes = 0;
  SearchTrace trace;
  std::vector<std::int8_t> on;  // of the first variables, those of its best whole; empty where it had none
};

struct SearchProgress {
  Index iteration;
  double dual, bound, score;
  Index nodes, open;
  double seconds;
};

// A whole scores more than the maxima of the parts allow.
struct Contradiction : std::exception {
  Contradiction(double high, double low) : score(high), dual(low) {}
  double score, dual;
};
// The parts agree on all shared variables, but not on those in reserve.
struct LooseReserves : std::exception {};

class Search {
 public:
  Search(Problem& problem, const SearchLimits& limits, const OptimizerOptions& options = {});

  // Before run(): goes on where another search ended, with its answer, its bound and its trace.
  void carry_on(EarlierSearch earlier);
  SearchEnd run();

  double score() const { return rounding_.best().score; }  // -inf: none is known
  double bound() const { return bound_; }                  // no whole scores more; -inf: there is none
  // The gap between score and bound that counts as rounding.
  double allowance() const;
  const Whole& best() const { return rounding_.best(); }
  Index nodes() const { return nodes_; }
  Index fixed() const { return fixed_; }
  Index tightened() const { return tightened_; }
  const SearchTrace& trace() const { return trace_; }
  const Dual& dual() const { return dual_; }
  const Rounding& rounding() const { return rounding_; }
  // [copies]: how much the mixtures of the last relaxation use each; empty before there was one.
  const std::vector<double>& average() const { return average_; }
  // [copies]: those of the least dual that steps of an optimiser found in the last state; empty where parts are swept.
  const std::vector<double>& best_multipliers() const { return best_; }

  std::function<void(const SearchProgress&)> progress;  // called after each evaluation, if set

 private:
  // What is left to be searched: a state, and the variable to be fixed in it.
  struct Node {
    std::shared_ptr<const Dual::Snapshot> state;
    Index variable;
    bool on;
    double bound;
  };
  struct OutOfNodes : std::exception {};
  struct OutOfIterations : std::exception {};

  // Whether a state of this bound can be left: it holds nothing better than the best answer.
  bool closes(double bound);
  double find_slack() const { return std::min(allowance(), limits_.tolerance * dual_.magnitude()); }
  // The bound of the present state: the dual and its rounding; of whole-numbered scores the whole number below it.
  double read_bound() const;
  // Takes what the parts have chosen where they agree. True: it is the best of the present state.
  bool take_agreement();
  // The variable to branch on: that of the most doubt; -1 where all that are shared are fixed.
  Index find_doubtful() const;
  // Searches below the present state, best bounds first, each from there straight down; at most so many nodes.
  void explore(Index most);
  // Searches below the present state, where what the relaxation is nearly sure of is fixed: for an answer, not a proof.
  void dive();
  // Bounds the present state. False: nothing better than the best answer is in it.
  bool bound_state();
  bool sweep_state();
  bool try_steps();
  void fill_means();
  bool step_state();
  bool iterate_state();
  bool settle(double* primal);
  bool is_enough(Index count, Index since) const;
  bool descend_state(Index sweeps);
  bool relax_state(Index passes);
  bool narrow_state(Index* count);
  bool search_state();
  bool tighten_state();
  void fill_average(Index count);
  void fill_doubts();
  void check_reserves() const;
  void check_limits();
  void note(double primal, double step);

  Problem& problem_;
  SearchLimits limits_;
  Watch watch_;
  Dual dual_;
  Proximal proximal_;
  Rounding rounding_;
  DepthFirst depth_first_;
  std::unique_ptr<Optimizer> optimizer_;  // null while the parts are swept, one after the other
  std::vector<Separator> separators_;     // where parts are swept, if they meet in a few groups each
  EarlierSearch earlier_;                 // but for its trace
  SearchTrace trace_;
  std::vector<Node> open_;          // a heap by bound
  double bound_;                    // of all that is not yet searched, and of the best answer
  double here_;                     // of the present state
  double closed_ = kNever<double>;  // the highest bound of states that were left without a search
  Index begun_ = 0;                 // work before the present state, and of searches in it
  double looked_ = 0;               // seconds after the start: the last look at whether to stop
  Index nodes_ = 0, fixed_ = 0, tightened_ = 0;
  Index count_ = 0;  // steps that are summed in total_ and not yet in average_
  bool diving_ = false;
  bool narrows_ = false;                        // whether bounds are asked for between steps
  std::vector<double> average_, total_, best_;  // [copies]: mixtures, sums of choices, the best multipliers
  std::vector<double> mean_, doubt_;            // [variables]: of the copies, and how far they are from being decided
};

}  // namespace certus::relax
