// Constraints on cells that are used or not, each of which may be meant the other way round (`negated`).
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// What a constraint says of its cells is said of literals: a literal is true where its cell is used, or, of a negated
// one, where it is not.
class LogicPart : public Part {
 public:
  bool propagates() const override { return true; }
  // Sums begin with the scores of all negated literals, from which those of true ones are taken off.
  double largest_term(Index cell) const override;
  double smallest_score() const override { return find_smallest(scores_); }

 protected:
  LogicPart(std::vector<double> scores, std::vector<std::uint8_t> negated);

  enum class Truth : std::uint8_t { open, yes, no };

  // Reads the adjusted scores: gains_ of a true literal over a false one, forced_ ones, and what false ones are worth.
  // False: a cell is both required and forbidden.
  bool read();
  // Lists the cells that are used where these literals are true, and returns their own score.
  double choose(std::vector<Index>& used) const;
  // Notes which literals are true where these cells are used, and returns the cells' own score.
  double take(const std::vector<Index>& used);
  // From values with each literal true and false to values with each cell used and not.
  void turn(double* with, double* without) const;

  std::vector<std::uint8_t> negated_;
  std::vector<double> gains_;
  std::vector<Truth> forced_;
  std::vector<std::uint8_t> true_;  // by literal: what maximize chose
  double base_ = 0;                 // what is sure, without the gains of open literals
};

// At least `least` and at most `most` of the literals are true: one of them (OR), at most one, a budget, and so on.
class CountPart final : public LogicPart {
 public:
  CountPart(std::vector<double> scores, std::vector<std::uint8_t> negated, Index least, Index most);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;
  // Onto a box that is cut by two planes: x = min(max(toward - t, 0), 1) with the one t that meets the count.
  bool project(const double* toward, double* point) override;

 private:
  // Finds which of the open literals to make true: all that gain, as far as the limits allow. They are then the first
  // count_ of order_. False: impossible.
  bool split();

  Index least_, most_;
  std::vector<Index> order_;
  Index fewest_ = 0, largest_ = 0;     // open literals that have to be true, and that may be
  Index count_ = 0;                    // of those that are,
  double sum_ = 0, last_ = 0;          // the sum of the gains, and the least of them,
  double next_ = 0;                    // and the largest gain of those that are not
  std::vector<double> aims_, shifts_;  // of project(): by open literal, and where one of them meets a limit
};

// The last literal is true exactly where one of the others is.
class OrOutputPart final : public LogicPart {
 public:
  OrOutputPart(std::vector<double> scores, std::vector<std::uint8_t> negated);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  struct Inputs {
    double gains = 0;               // of the true ones among them, if each is as it likes
    Index likely = 0;               // how many those are,
    Index first = -1, second = -1;  // and the two that cost least to make true
    bool forced = false;            // one is true in any case
  };
  bool read_inputs(Inputs* inputs);
  // The best value over the inputs but one (-1: all), where the output is true or false.
  double value(const Inputs& inputs, bool output, Index but) const;
};

// The weights of the true literals sum to no more than a capacity. Weights are whole numbers.
class KnapsackPart final : public LogicPart {
 public:
  KnapsackPart(std::vector<double> scores, std::vector<std::uint8_t> negated, std::vector<Index> weights,
               Index capacity);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;
  bool find_possible(double* with, double* without) override;

 private:
  // best[c][w]: of the literals before c (from c on, for `backward`), with a weight of at most w.
  void fill(std::vector<double>& best, bool backward);
  void extend(const double* from, double* to, Index literal) const;

  std::vector<Index> weights_;
  Index capacity_;
  std::vector<double> forward_, backward_;
  Heed heed_;
};

}  // namespace certus::relax
