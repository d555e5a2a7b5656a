// Chang et al. (2014), figure 6: the relaxed problem with some of its constraints put back.
//
// An active constraint (i, j) says that y(i, j) and the links whose step comes from (i, j) are as many. A hypothesis of
// the search carries, for each, whether the link is there and nobody has come from it yet ("open"), or somebody comes
// from it and it has to be there ("owed"). Rows are visited in order, links of row 0 first, so that nothing may be owed
// by a row that was passed, and at the end nothing is open.
//
// A hypothesis that cannot reach more than the best known score, by the relaxed problem without constraints, is
// dropped: lemma 1 again.
#pragma once

#include <bitset>
#include <optional>

#include "align/relaxed_lattice.hpp"
#include "base/interrupt.hpp"

namespace certus::align {

class ConstrainedViterbi {
 public:
  static constexpr Index kMost = 128;  // constraints

  ConstrainedViterbi(const RelaxedLattice& lattice, Index limit);

  bool add(Index row, Index column);  // false if there are too many
  bool is_active(Index row, Index column) const { return find_constraint(row, column) >= 0; }
  Index size() const { return static_cast<Index>(rows_.size()); }

  // The best answer above `least` that satisfies the constraints, for a lattice run forward and backward; value -inf
  // if there is none. False if it took more than `limit` hypotheses.
  bool maximize(double least, RelaxedAnswer& answer);

 private:
  using Set = std::bitset<kMost>;
  struct Hypothesis {
    Set open, owed;
    double score;
    Index parent, column, state;
    Index before[3];  // where the steps of its links come from; -1 for no link
  };
  struct Option {
    double score;
    Index before, constraint;  // -1 for none
  };

  Index find_constraint(Index row, Index column) const { return index_[row * (lattice_.columns() + 1) + column]; }
  void list_options(Index row, Index column, std::vector<Option>& options) const;
  bool take(Index row, Index column, const Option& option, Hypothesis& made) const;
  bool run_nothing(double least);
  bool run_row(Index row, double least);
  void expand(Index row, const Hypothesis& made, Index column_offset, double least);
  bool keep(const Hypothesis& made);
  void start_layer();
  void find_answer(RelaxedAnswer& answer) const;

  const RelaxedLattice& lattice_;
  Index limit_, kept_ = 0;
  std::vector<Index> index_;                     // [rows + 1][columns + 1]: the number of a constraint, -1 for none
  std::vector<Index> rows_;                      // [constraints]
  std::vector<Set> of_row_;                      // [rows + 1]
  std::vector<std::vector<Hypothesis>> layers_;  // after each column of nothing's links, then after each row
  std::vector<Index> slots_;                     // of the hypotheses of the last layer, by what they carry
  std::vector<std::vector<Option>> options_;     // [columns + 1], of the row that is visited
  Index layer_ = 0;
  bool is_full_ = false;
  Heed heed_;
};

}  // namespace certus::align
