// The relaxed problem: source words are counted, not covered (Chang & Collins 2011; Rush et al. 2013, 4).
//
// With a multiplier u_i for each source word, a phrase scores its own score minus those of its words. The best sequence
// of phrases with as many source words as the sentence, plus the sum of all u, is then a bound of all derivations: each
// of them translates every word once and keeps its score. The recursion runs from the end:
//   outside[n][row] = max over columns c that row reaches of  cost(row, c) + max over o in c of
//                     score(o) - u(o) + outside[n + words(o)][the row after o].
// A tightened relaxation counts some chosen ("hard") words exactly: a bit for each of them joins n.
#pragma once

#include <array>

#include "translate/phrase_graph.hpp"

namespace certus::translate {

class PhraseRelaxation {
 public:
  explicit PhraseRelaxation(const PhraseGraph& graph);

  // Counts these source words exactly from now on; at most kMostHard.
  static constexpr Index kMostHard = 8;
  void tighten(std::vector<Index> words);
  const std::vector<Index>& hard() const { return hard_; }

  // Finds all outside scores under multipliers [words], and returns the bound. Throws OutOfTime, as prune does; only
  // another call makes the scores right again then.
  double solve(const std::vector<double>& multipliers);
  // The sequence of phrases that the bound is the score of; call solve before.
  std::vector<Option> find_path() const;

  // Leaves out, from now on, what no derivation of at least this score passes through: by the best score of a sequence
  // of phrases through each row at each n. Call solve before.
  void prune(double least);

  // Of what stands in a row with n words translated, the hard ones as bits; -inf if it cannot be completed.
  double outside(Index n, std::uint32_t bits, Row row) const { return outside_[find_layer(n, bits) + row]; }
  // The most that a closed column and all after it can give, without the cost of appending it.
  const double* values(Index n, std::uint32_t bits) const {
    return values_.data() + (n * masks_ + bits) * graph_.closed;
  }
  double weight(Option o) const { return weight_[o]; }  // its score, with what its words' multipliers take
  double offset() const { return offset_; }             // the sum of all multipliers
  std::uint32_t bits(Column c) const { return column_bits_[c]; }
  const PhraseGraph& graph() const { return graph_; }

 private:
  std::size_t find_layer(Index n, std::uint32_t bits) const {
    return static_cast<std::size_t>(n * masks_ + bits) * static_cast<std::size_t>(graph_.rows());
  }
  std::uint32_t find_bits(Index begin, Index end) const;
  void weigh_options(const std::vector<double>& multipliers);
  void list_reachable();
  void find_layers_after(Index n, std::uint32_t bits);
  void fill_values(Index n, std::uint32_t bits);
  void fill_layer(Index n, std::uint32_t bits);
  double find_best(Row row, const double* values) const;
  void push_layer(Index n, std::uint32_t bits);
  void push_base(Row row, double inside);
  void push_open(Column c, Row next, double inside);
  void list_live(std::vector<char> alive);
  struct Choice {
    double value;
    Option option;
    Row row;
  };
  Choice choose(Index n, std::uint32_t bits, Row row) const;
  void offer(Choice& best, double cost, Column c, Row next, Index n, std::uint32_t bits) const;

  const PhraseGraph& graph_;
  std::vector<Index> hard_;
  Index masks_ = 1;
  std::vector<std::uint32_t> column_bits_;  // [columns]
  std::vector<std::uint32_t> reach_bits_;   // [reaches]
  std::vector<double> weight_;              // [options]
  std::vector<double> outside_;             // [(n * masks + bits) * rows]; layers beyond the last word are -inf
  std::vector<double> values_;              // [(n * masks + bits) * closed columns]
  std::vector<std::size_t> layer_after_;    // [open columns] in outside_, for one n and bits
  std::vector<double> open_weight_;         // [open columns]
  // What is left to look at, for each n: bases, also those that only others refer to, and all other rows.
  struct Live {
    std::vector<Row> bases, others;
  };
  std::vector<Live> live_;          // [n]
  std::vector<char> alive_;         // [n * rows]
  std::vector<double> base_value_;  // [bases] of one layer
  std::vector<double> inside_;      // as outside_: the best way to get there; only while pruning
  std::vector<double> entered_;     // [columns] the best way to the beginning of one, from one layer
  double offset_ = 0;
};

}  // namespace certus::translate
