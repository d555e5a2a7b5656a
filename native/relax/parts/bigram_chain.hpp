// A label sequence whose pairs of labels in a row are cells, too: [T][L] labels, then [T - 1][L][L] pairs.
#pragma once

#include "base/interrupt.hpp"
#include "chain/run.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// Viterbi's recursion, and the same from the end, over the adjusted scores of labels and pairs:
//   forward[t][l] = label[t][l] + max over k of forward[t - 1][k] + pair[t - 1][k][l]
class BigramChainPart final : public Part {
 public:
  // Keeps the model by reference; `emissions` are [T][L], `pairs` [T - 1][L][L] its transitions.
  BigramChainPart(const Model<double>& model, const std::vector<double>& emissions, const std::vector<double>& pairs,
                  std::vector<double> start, std::vector<double> end);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  const double* label(Index t) const { return sums_.data() + t * width_; }
  const double* pair(Index t) const { return sums_.data() + (length_ + t * width_) * width_; }
  void run_forward();
  void run_backward();
  double score() const;  // of labels_, without adjustments

  const Model<double>& model_;
  Index width_, length_;
  Heed heed_;
  std::vector<double> start_, end_;         // [L]
  std::vector<double> forward_, backward_;  // [T][L]; backward without the label itself
  std::vector<Index> labels_;               // [T]
};

}  // namespace certus::relax
