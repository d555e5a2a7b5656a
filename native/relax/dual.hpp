// The dual of a problem: a bound on the optimum at any multipliers, and what the parts choose there.
//
//     L(u) = sum over parts p of  max over its structures y of  score_p(y) + u_p · x_p(y)
//
// where x_p(y) are the cells that y uses, and the multipliers of the copies of a variable sum to zero. For structures
// in agreement the multipliers cancel, so L(u) is at least the best score of any: weak duality.
//
// Variables can be fixed: at 0, the cell is forbidden in all parts that have it; at 1, it is required. Its
// multipliers count no more. Multipliers are kept on a grid, a power of two far below the scores: so those of a
// variable sum to zero without rounding, and on whole-numbered scores every bound is exact.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "relax/problem.hpp"

namespace certus::relax {

// A part returned a score that is not whole, where whole numbers were promised.
struct NotWhole : std::exception {
  explicit NotWhole(Index which) : part(which) {}
  Index part;
};
// The scores add up to more than leaves multipliers room.
struct TooLarge : std::exception {
  explicit TooLarge(double size) : magnitude(size) {}
  double magnitude;
};

class Dual {
 public:
  static constexpr std::int8_t kFree = -1;
  static constexpr double kLargest = 0x1p900, kSmallest = 0x1p-1000;  // magnitudes of the scores

  // `whole`: all scores, times weights, are promised to be whole numbers.
  explicit Dual(Problem& problem, bool whole = false);
  // Before start(): evens out what the scores of cells, alone, make each copy worth to its part. A good place to start
  // from where parts score most of their cells.
  void spread();
  // Asks all parts for the first time, which tells how large the numbers are. False: one has no structure at all.
  bool start();

  const Problem& problem() const { return problem_; }
  Part& part(Index p) { return problem_.part(p); }

  // The best structure of a part at the present multipliers, which the dual does not note: its score, times weight.
  double maximize(Index p, std::vector<Index>& used);
  // Asks the parts whose multipliers changed. False: one has no structure left.
  bool evaluate();
  double bound() const;      // after evaluate()
  double magnitude() const;  // the size of the numbers that bound() adds up
  // The rounding of bound(): no whole of the present state scores more than bound() + rounding(). Each part adds up its
  // scores and multipliers in float64, so its maximum may fall short of the true one by the number of terms times 2^-52
  // times the magnitude of the terms, which multipliers of another scale than the scores make large. 0 where that is
  // below 1e-11 of `size`, the magnitude of an answer: results are stated up to that much.
  double rounding(double size) const { return rounding(size, measure_terms()); }
  // The same for states with more fixed variables, from the terms that were measured here.
  double rounding(double size, double terms) const;
  // The share of the same that parts have which add bonuses for required cells: it stays where all is fixed.
  double bonus_rounding(double size) const;
  double measure_terms() const;            // their magnitude above zero, times 2^-52 times their number, over all parts
  double scale() const { return scale_; }  // the smallest magnitude of a score; 0 where a part does not tell
  double value(Index p) const { return value_[p]; }
  double score(Index p) const { return score_[p]; }
  const std::vector<Index>& used(Index p) const { return used_[p]; }
  const std::shared_ptr<void>& structure(Index p) const { return structure_[p]; }
  bool uses(Index copy) const { return uses_[copy] != 0; }
  Index on(Index v) const { return on_[v]; }  // copies of a variable that the parts use
  bool split(Index v) const { return active_[v] && on_[v] > 0 && on_[v] < problem_.count(v); }
  bool agree() const;
  // Lists the variables that may move and whose copies differ.
  void list_split(std::vector<Index>& variables);
  Index calls(Index p) const { return calls_[p]; }                   // how often the part was asked for its maximum,
  Index skipped(Index p) const { return evaluations_ - calls_[p]; }  // and how often not, as nothing had changed
  Index work() const { return work_; }  // cells of all parts that were asked for maxima or max-marginals

  double multiplier(Index copy) const { return multiplier_[copy]; }
  double round(double x) const { return (x + rounder_) - rounder_; }  // to the grid,
  double grid() const { return grid_; }                               // which has this width
  // Rounds the multipliers of open parts to the grid, so that those of each variable sum to zero without rounding.
  void balance();
  double largest() const { return largest_; }  // more than any difference of scores matters
  double worth();                              // what a cell is worth to its part at first, in the mean
  void set_multiplier(Index copy, double u);
  void copy_multipliers(std::vector<double>& multipliers) const { multipliers = multiplier_; }  // [copies]
  void set_multipliers(const std::vector<double>& multipliers);                                 // of those that move
  void move(Index copy, double change) { set_multiplier(copy, multiplier_[copy] + change); }

  // False: it contradicts what is fixed.
  bool fix(Index v, bool on);
  // Fixes what follows from what is fixed, part by part. False: nothing is left.
  bool propagate();
  const std::vector<std::int8_t>& fixed() const { return fixed_; }
  bool is_free(Index v) const { return fixed_[v] == kFree; }
  bool is_active(Index v) const { return active_[v] != 0; }  // not a reserve that is switched off
  bool moves(Index v) const { return is_free(v) && active_[v] && problem_.count(v) > 1; }  // its multipliers may
  void activate(Index v) { active_[v] = 1; }
  // How much is fixed by now, and back to that.
  std::size_t trail() const { return trail_.size(); }
  void undo(std::size_t trail);
  // By how much the dual falls, at least, where a variable is on or off; -inf where it cannot be.
  void find_losses();
  double on_loss(Index v) const { return on_loss_[v]; }
  double off_loss(Index v) const { return off_loss_[v]; }
  // Fixes the variables of which one side cannot be better than an answer of this score and magnitude, by the parts'
  // max-marginals; counts them.
  bool fix_by_bounds(double score, double size, Index* count);
  // worths[copies]: by how much each copy's part wants to use it, between -most and most. Of a group with exactly one
  // that is the max-marginal less the middle of the two best, of another cell its max-marginal with it less that
  // without; 0 where the part does not know.
  void find_worths(double most, std::vector<double>& worths);
  // Moves the multipliers of the copies of each variable, by a share, to where `worths` are the same; false where none
  // moved. Worths that are not finite move nothing.
  bool even_out(const std::vector<double>& worths, double share);
  // The parts that have free variables, in order.
  const std::vector<Index>& open() const { return open_; }
  void find_open();
  bool is_open(Index p) const { return is_open_[p] != 0; }

  // Tells a part its multipliers and what is fixed, after it was asked something else.
  void adjust_part(Index p);

  // With each cell and without it, as the part sees it now; false where the part cannot tell.
  bool max_marginals(Index p);
  const double* with() const { return with_.data(); }
  const double* without() const { return without_.data(); }

  // What to come back to.
  struct Snapshot {
    std::vector<std::int8_t> fixed;
    std::vector<double> multipliers;  // of the copies of open parts
    std::vector<Index> open;
  };
  Snapshot save() const;
  void restore(const Snapshot& snapshot);
  void restore_fixed(const std::vector<std::int8_t>& fixed);

 private:
  bool propagate(Index p);
  bool evaluate(Index p);
  void set_grid(double size, int bits);
  double measure_worth();
  void read_terms();
  double measure_bonuses() const;
  void tell(Index copy);
  void adjust(Index copy);
  void forget_queue();
  void release(Index p);

  Problem& problem_;
  bool whole_;
  double rounder_ = 0, grid_ = 0, largest_ = 0, worth_ = -1;
  double scale_ = 0;                         // below which magnitudes of rounding are not looked at
  Index most_terms_ = 0;                     // of a part
  std::vector<double> term_, rest_;          // [copies], [parts]: see Part::largest_term, times weights
  std::vector<double> multiplier_;           // [copies]
  std::vector<std::int8_t> fixed_;           // [variables]
  std::vector<std::uint8_t> active_, seen_;  // [variables]
  std::vector<std::uint8_t> uses_;           // [copies]
  std::vector<Index> on_;                    // [variables]
  std::vector<std::vector<Index>> used_;
  std::vector<std::shared_ptr<void>> structure_;
  std::vector<double> score_, value_;
  std::vector<Index> calls_;  // [parts]
  Index evaluations_ = 0, work_ = 0;
  std::vector<std::uint8_t> dirty_, is_open_, touched_;
  std::vector<Index> open_, queue_, changed_;  // parts: with free variables, to propagate, and dirty ones
  std::vector<Index> trail_;                   // variables in the order in which they were fixed
  std::vector<double> with_, without_, on_loss_, off_loss_;
  std::vector<double> on_least_, off_least_;  // [variables]: of one part
};

}  // namespace certus::relax
