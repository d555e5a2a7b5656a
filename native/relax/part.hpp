// What a decomposition asks of its parts. A part is a set of structures, each of which uses some of the part's cells
// (a label at a position, an arc of a tree, a variable that is on) and has a score of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace certus::relax {

// Cells of which every structure uses exactly one, such as the states of a variable; or a single cell that is used or
// not, such as a variable that is on or off.
struct CellGroup {
  Index begin, end;
  bool exactly_one;
};

class Part;

// A part cannot go on: its `message` says why, or the cell does, which its structure uses twice.
struct PartError : std::exception {
  PartError(const Part* which, Index twice, std::string why) : part(which), cell(twice), message(std::move(why)) {}
  const char* what() const noexcept override { return message.c_str(); }
  const Part* part;
  Index cell;  // -1 where there is a message
  std::string message;
};

class Part {
 public:
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  Index cells() const { return static_cast<Index>(sums_.size()); }
  const std::vector<CellGroup>& groups() const { return groups_; }  // they cover all cells, in order
  const CellGroup& group(Index cell) const { return groups_[group_[cell]]; }
  double cell_score(Index cell) const { return scores_[cell]; }

  // What a cell counts for besides its score; -inf forbids it.
  void adjust(Index cell, double adjustment) { sums_[cell] = scores_[cell] + adjustment; }
  // Whether every structure has to use the cell. Of a group with exactly one, the others are forbidden with it.
  void require(Index cell, bool required) { required_[cell] = required; }

  // Finds a structure with the highest score plus adjustments, lists the cells that it uses, in rising order, and
  // returns its score without the adjustments; -inf where the adjustments leave no structure.
  virtual double maximize(std::vector<Index>& used) = 0;

  // For each cell the highest score plus adjustments of a structure that uses it, and of one that does not; -inf where
  // there is none. Numbers that are too high are allowed: they only make less of what is known. False: unknown here.
  virtual bool max_marginals(double* with, double* without) = 0;
  virtual bool offers_max_marginals() const { return true; }
  // The same where it only matters what is -inf: what can still be used, and what can be left out.
  virtual bool find_possible(double* with, double* without) { return max_marginals(with, without); }
  // Whether they cost little more than the maximum.
  virtual bool has_cheap_max_marginals() const { return true; }
  // Whether it answers as quickly after all of its adjustments moved as after a few did.
  virtual bool moves_freely() const { return true; }
  // Whether max-marginals are cheap enough to be asked wherever a cell is fixed, to see what follows from that.
  virtual bool propagates() const { return false; }

  // The score of the best structure that uses these cells, in rising order, and no others, whatever the adjustments;
  // -inf where there is none, or none that is found quickly: nothing is concluded from that. False: not offered,
  // maximize() has to find out.
  virtual bool complete(const std::vector<Index>& /*used*/, double* /*score*/) { return false; }

  // The point nearest to `toward` of all mixtures of the part's structures, both [cells], whatever the adjustments but
  // those that forbid, where structures score by their cells alone. False: not offered.
  virtual bool project(const double* /*toward*/, double* /*point*/) { return false; }

  // What adding up scores can round, see Dual::rounding(). A structure that scores as much as the best one has no terms
  // below zero that those above do not make up for, so the largest terms above zero bound all rounding: of a cell that
  // is used, or left out, and of what a structure scores besides its cells.
  virtual double largest_term(Index cell) const { return std::max(scores_[cell], 0.0); }
  virtual double largest_rest() const { return 0.0; }
  // What the part adds to scores at present so that required cells are used.
  virtual double bonus() const { return 0.0; }
  // The smallest magnitude of any score but 0, infinite where all are 0; 0 where the part does not tell.
  virtual double smallest_score() const { return 0.0; }

  // Told once the first maxima are known: more than any difference of scores matters.
  virtual void set_scale(double /*largest*/) {}

  // What maximize() or complete() found last, where the used cells do not say it all: the search keeps that of the best
  // answer.
  virtual std::shared_ptr<void> structure() const { return nullptr; }

 protected:
  explicit Part(std::vector<double> scores)
      : scores_(std::move(scores)), sums_(scores_), required_(scores_.size(), 0), group_(scores_.size()) {}

  void add_group(Index begin, Index end, bool exactly_one) {
    for (Index c = begin; c < end; ++c) group_[c] = static_cast<Index>(groups_.size());
    groups_.push_back({begin, end, exactly_one});
  }

  std::vector<double> scores_, sums_;   // [cells]: of its own, and with the adjustments
  std::vector<std::uint8_t> required_;  // [cells]

 private:
  std::vector<CellGroup> groups_;
  std::vector<Index> group_;  // [cells]
};

// The smallest magnitude of finite numbers but 0; infinite where there is none.
double find_smallest(const std::vector<double>& scores);

// For groups of which exactly one cell is used: the best without a cell is the best with another one.
void fill_without(const std::vector<CellGroup>& groups, const double* with, double* without);

}  // namespace certus::relax
