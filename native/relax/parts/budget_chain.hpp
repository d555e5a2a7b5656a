// A label sequence in which only so many positions have one of some labels: cells [T][L], one label per position.
#pragma once

#include "base/interrupt.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// Viterbi over pairs (label, how many positions so far had a counted label):
//   best[t][k][l] = cell[t][l] + max over m of best[t - 1][k - counted[l]][m] + transition[m][l]
class BudgetChainPart final : public Part {
 public:
  struct Scores {
    std::vector<double> start, transitions, end;  // [L], [from][to], [L]
    std::vector<std::uint8_t> counted;            // [L]
  };
  // emissions[T][L]. From `least` to `most` of the positions have a counted label.
  BudgetChainPart(std::vector<double> emissions, Scores scores, Index least, Index most);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  double& best(Index t, Index k, Index l) { return best_[(t * levels_ + k) * labels_ + l]; }
  double& rest(Index t, Index k, Index l) { return rest_[(t * levels_ + k) * labels_ + l]; }
  double enter(Index t, Index k, Index l, Index* from);
  void run_forward();
  void run_backward();
  double score(const Index* labels) const;  // of a sequence

  Scores given_;
  Index labels_, length_, least_, levels_;
  Heed heed_;
  std::vector<double> best_, rest_;  // [T][counts][L]
  std::vector<Index> path_;          // [T]
};

}  // namespace certus::relax
