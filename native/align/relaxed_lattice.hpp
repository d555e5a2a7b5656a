// The relaxed problem of Chang et al. (2014): a Viterbi search for the choices of source words that also decides which
// links the target words have (figures 3 and 5), with exact pruning by max-marginals (lemma 1).
//
// x(i, j) are the links that source words choose, a Markov chain over i; y(i, j) those of target words, over j. What is
// relaxed is that the links of y form a chain: y(i, j) = sum_i' y(i, i', j + 1) for i in 0..I and j in 0..J-1, with
// multipliers lambda(i, j), and lambda(., J) = 0. Each link of y then has the best predecessor by itself,
//   rho(i, j) = max_i' omega(i', i, j) - lambda(i, j) + lambda(i', j - 1),
// and y(0, j) is there if that is worth more than nothing. The agreement of x and y stays: a state of the search at (i,
// j) says where the link of target word j is (above, here, or below: it has to be near) and which of y(i, j - 1), y(i,
// j), y(i, j + 1) there are. Full agreement has one state, adjacent agreement twelve.
#pragma once

#include <array>

#include "align/choices.hpp"
#include "base/interrupt.hpp"

namespace certus::align {

// A link of a target word in the relaxed problem, and the row that its step comes from; rows are 0 (nothing) to I.
struct RelaxedLink {
  Index row, column, before;
};

struct RelaxedAnswer {
  double value = kNever<double>;   // an upper bound of the best score above that which pruning assumed
  std::vector<Index> source;       // what each source word chooses
  std::vector<RelaxedLink> links;  // of target words
};

class RelaxedLattice {
 public:
  // Where the target word's link is, and what there is in the source word's row at columns -1, 0 and 1 from here.
  struct State {
    Index vertical;
    bool has[3];
    Index kept;  // how many of these
  };
  struct Edge {
    Index from, to;
    double score;
  };

  // Throws nothing; prices have to be those of full or adjacent agreement.
  explicit RelaxedLattice(const Agreed& problem);

  Index rows() const { return rows_; }        // source words, from 1
  Index columns() const { return columns_; }  // target words, from 1
  double& multiplier(Index row, Index column) { return multipliers_[row * (columns_ + 1) + column]; }
  double multiplier(Index row, Index column) const { return multipliers_[row * (columns_ + 1) + column]; }

  // Sets multipliers to the best scores of the target words' chain before each link, so that the bound begins no higher
  // than the two chains' own; else they are 0.
  void start_from_chain();

  void run_forward();                       // for the multipliers as they are
  void find_answer(RelaxedAnswer& answer);  // of the last run
  void run_backward();                      // after run_forward
  Index prune(double score, double slack);  // after both: drops what is in no answer above score + slack
  double space() const;                     // the share of transitions that is left
  double slack() const { return slack_; }

  const std::vector<State>& states() const { return states_; }
  const std::vector<Edge>& edges(Index row) const { return edges_[row - 1]; }  // into a row, by origin
  bool is_alive(Index row, Index column, Index state) const { return alive_[find_node(row, column) + state] != 0; }
  bool are_compatible(Index from, Index state, Index to, Index next) const;
  double gain(Index row, Index column, Index state) const;  // what a state adds, without the step into it
  double ahead(Index row, Index column, Index state) const { return ahead_[find_node(row, column) + state]; }
  double best_link(Index row, Index column) const { return rho_[row * (columns_ + 1) + column]; }  // rho
  double link(Index before, Index row, Index column) const;  // omega', the score of a link with its predecessor
  double start() const { return -multiplier(0, 0); }
  double price(Index distance) const { return distance == 0 ? 0 : adjacent_; }

 private:
  // The best of a node's states, by what a neighbour's row has to know of it.
  struct Summary {
    double free = kNever<double>;    // those that ask nothing of the next row
    double asking = kNever<double>;  // those whose link is below
    std::array<double, 3> free_at{kNever<double>, kNever<double>, kNever<double>};    // by what they have
    std::array<double, 3> asking_at{kNever<double>, kNever<double>, kNever<double>};  // at -1, 0, 1
  };

  Index find_node(Index row, Index column) const { return (row * (columns_ + 1) + column) * width_; }
  double& near(Index row, Index column, Index distance) {
    return near_[(row * (columns_ + 1) + column) * 3 + distance + 1];
  }
  void make_edges();
  void find_links();
  void run_row(Index row);
  double enter(Index row, Index column, const State& state);
  void summarize(Index row, Index column, Index vertical, const std::vector<double>& values, Summary& summary) const;
  bool trace(Index row, Index& column, Index& state) const;
  double leave(Index row, Index column, Index state, const std::vector<double>& far);
  double find_marginal(Index row, const Edge& edge);

  const Agreed problem_;
  Index rows_, columns_, width_;  // width: states of a node
  double adjacent_, scale_, slack_;
  std::vector<State> states_;
  std::vector<std::vector<Edge>> edges_;  // [rows]
  Index all_edges_ = 0;
  std::vector<double> near_;               // [rows + 1][columns + 1][3]: the edge from column - distance, if it is left
  std::vector<char> alive_;                // [rows + 1][columns + 1][states]
  std::vector<double> multipliers_, rho_;  // [rows + 1][columns + 1]
  std::vector<double> reached_, ahead_;    // [rows + 1][columns + 1][states]
  std::vector<double> base_;               // [rows + 1][columns + 1]: the best step from a state that asks nothing
  std::vector<Index> base_from_;
  std::vector<Summary> before_, after_;  // [rows + 1][columns + 1]
  Heed heed_;
};

}  // namespace certus::align
