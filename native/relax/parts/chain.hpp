// A label sequence: cells [T][L], one label per position.
#pragma once

#include "chain/run.hpp"
#include "relax/part.hpp"

namespace certus::relax {

class ChainPart final : public Part {
 public:
  // Keeps the model by reference; `emissions` are [T][L].
  ChainPart(const Model<double>& model, std::vector<double> emissions);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;

 private:
  double score(const std::vector<Index>& labels) const;

  const Model<double>& model_;
  Index length_;
  std::vector<Index> labels_;  // [T]
};

}  // namespace certus::relax
