// What the parts have chosen so far, and the best mixture of it.
#pragma once

#include <unordered_set>
#include <vector>

#include "relax/dual.hpp"
#include "relax/rounding.hpp"

namespace certus::relax {

// Columns, one per choice of a part, with weights that sum to one within each part. With D the map that takes the cells
// of all copies to their deviations from agreement, the Gram matrix of two columns is (D x) · (D y): for the same part
// x · y - z_x · z_y, else - z_x · z_y, where z are the sums of a column over the copies of each variable, by the root
// of their number. Only variables that may move count.
class Columns {
 public:
  // At most `most` columns of each part are kept; those with weight always are.
  Columns(Dual& dual, Index most);

  // Begins in the present state of the dual, with what the parts chose in others as far as it is possible here.
  void start();
  // Takes in what the parts chose; returns whether any of it is new.
  bool add_choices();
  // Takes in a whole, as far as it is possible here, and sets distances()[k]: in how many copies a column differs from
  // it.
  void add_whole(const Whole& whole);
  const std::vector<double>& distances() const { return distances_; }

  Index size() const { return static_cast<Index>(part_.size()); }
  // values[k]: what each column is worth under multipliers [copies].
  void fill_values(const std::vector<double>& multipliers, std::vector<double>& values) const;
  // The sum over parts of the highest of their columns' values.
  double model(const std::vector<double>& values);
  // Finds the mixture with the most gain less step / 2 times its squared deviation, up to `enough`; slopes[k] of it.
  void mix(const std::vector<double>& gain, double step, double enough, std::vector<double>& slopes);
  // average[copies]: how much the mixture uses each copy.
  void fill_average(std::vector<double>& average) const;

 private:
  struct Choice {
    std::vector<Index> used;  // cells, in rising order
    double score;
  };

  bool is_possible(Index p, const std::vector<Index>& used) const;
  bool append(Index p, const std::vector<Index>& used, double score);
  void fill_products(Index k);
  void forget();
  void remember(Index p, const std::vector<Index>& used, double score);
  std::uint64_t hash(Index p, const std::vector<Index>& used) const;

  Dual& dual_;
  const Problem& problem_;
  Index most_;
  std::vector<std::vector<Choice>> pool_;  // by part, for other states
  std::unordered_set<std::uint64_t> pooled_, known_;
  std::vector<Index> part_;                 // [columns]
  std::vector<std::vector<Index>> copies_;  // [columns]: all that are used,
  std::vector<std::vector<Index>> moving_;  // and those of variables that may move
  std::vector<double> scores_, weights_, distances_;
  std::vector<std::vector<double>> gram_;  // [columns][columns]
  std::vector<double> by_variable_, highest_;
  std::vector<std::uint8_t> by_copy_;
};

}  // namespace certus::relax
