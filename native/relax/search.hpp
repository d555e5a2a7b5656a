// The best answer of a problem, with proof: the dual is minimised, variables that cannot matter are fixed by bounds,
// and where a gap stays the search branches.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "relax/dual.hpp"
#include "relax/proximal.hpp"
#include "relax/rounding.hpp"
#include "relax/watch.hpp"

namespace certus::relax {

struct SearchLimits {
  double seconds;
  Index nodes;
  double tolerance;  // the gap, in shares of the numbers added up, that counts as rounding
};

enum class SearchEnd : std::uint8_t { proven, seconds, nodes };

// How the search stood after each step of a bound.
struct SearchTrace {
  std::vector<double> seconds, bound, score;
  std::vector<Index> nodes;
};

class Search {
 public:
  Search(Problem& problem, const SearchLimits& limits);

  SearchEnd run();

  double score() const { return rounding_.best(); }  // -inf: no answer is known, or, after a proof, there is none
  double bound() const { return bound_; }
  const std::vector<std::int8_t>& on() const { return rounding_.on(); }  // [variables] of the best answer
  Index nodes() const { return nodes_; }
  Index fixed() const { return fixed_; }
  const SearchTrace& trace() const { return trace_; }

 private:
  // What is left to be searched: a state, and the variable to be fixed in it.
  struct Node {
    std::shared_ptr<const Dual::Snapshot> state;
    Index variable;
    bool on;
    double bound;
  };
  struct OutOfNodes : std::exception {};

  bool closes(double bound) const { return bound <= score() + limits_.tolerance * dual_.magnitude(); }
  // Searches below the present state, best bounds first, each from there straight down; at most so many nodes.
  void explore(Index most);
  // Searches below the present state, where what the relaxation is nearly sure of is fixed: for an answer, not a proof.
  void dive();
  // Bounds the present state. False: nothing better than the best answer is in it.
  bool bound_state();
  bool descend_state(Index sweeps);
  bool relax_state(Index passes);
  bool narrow_state(Index* count);
  Index choose_variable() const;
  void note(double bound);

  Problem& problem_;
  SearchLimits limits_;
  Watch watch_;
  Dual dual_;
  Proximal proximal_;
  Rounding rounding_;
  SearchTrace trace_;
  std::vector<Node> open_;  // a heap by bound
  double bound_;            // of all that is not yet searched, and of the best answer
  double here_;             // of the present state
  Index nodes_ = 0, fixed_ = 0;
  bool diving_ = false;
};

}  // namespace certus::relax
