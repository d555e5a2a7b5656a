// A factor graph: variables with a few states, and parts that score some of their cells together.
#pragma once

#include <memory>
#include <vector>

#include "relax/elimination.hpp"
#include "relax/problem.hpp"

namespace certus::relax {

// The states of a variable are the cells from `cell` on; one that is on or off has one cell and two states.
struct GraphVariable {
  Index cell, states;
  bool binary;
  Index cells() const { return binary ? 1 : states; }
};

class FactorGraph {
 public:
  // scores[cells]; the cells of the variables follow one another.
  FactorGraph(std::vector<double> scores, std::vector<GraphVariable> variables);

  // The scores of these cells that no part carries yet. The part that they are for is added next.
  std::vector<double> take_scores(const std::vector<Index>& cells);
  void add(std::shared_ptr<Part> part, std::vector<Index> cells);

  // Makes one table of parts that have the same cells, such as clauses, where it is small. The relaxation is no looser,
  // and has fewer multipliers.
  void merge();

  Index parts() const { return static_cast<Index>(factors_.size()); }
  const std::shared_ptr<Part>& part(Index p) const { return factors_[p].part; }
  const std::vector<Index>& cells(Index p) const { return factors_[p].cells; }

  // How many entries the tables of an elimination have together; infinite where there would be more than `most`.
  double count_entries(double most) const { return find_order(most).entries; }

  // The best assignment of a graph whose elimination needs no more than `most` entries; no states: all is forbidden.
  struct Best {
    std::vector<Index> states;  // [variables]
    double score = kNever<double>;
  };
  Best eliminate(double most) const;

 private:
  struct Factor {
    std::shared_ptr<Part> part;
    std::vector<Index> cells;
  };

  EliminationOrder find_order(double most) const;
  // The variables that the cells belong to.
  std::vector<Index> list_variables(const std::vector<Index>& cells) const;
  bool covers_variables(const std::vector<Index>& cells) const;
  // What the factor scores, with the scores that its part carries, by the states of some variables.
  std::vector<double> fill_table(const Factor& factor, const std::vector<Index>& variables) const;
  double score(const Factor& factor, const std::vector<Index>& states) const;
  Factor join(const std::vector<Index>& factors) const;

  std::vector<double> scores_;
  std::vector<GraphVariable> variables_;
  std::vector<Index> owner_;            // [cells]: the variable
  std::vector<Index> states_;           // [variables]
  std::vector<std::uint8_t> is_taken_;  // [cells]: whether a part carries the score
  std::vector<Factor> factors_;
};

}  // namespace certus::relax
