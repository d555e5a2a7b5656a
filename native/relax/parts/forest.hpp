// A packed forest as a part: cells are used by the edges of a derivation that stand for them.
#pragma once

#include "hypergraph/cells.hpp"
#include "relax/part.hpp"

namespace certus::relax {

// A derivation: what ForestPart::structure() refers to.
struct FoundDerivation {
  std::vector<hypergraph::Edge> edges;  // in preorder, as the forest numbers them
  double score;
};

class ForestPart final : public Part {
 public:
  // Keeps the cells by reference. Throws PartError where a derivation uses a cell twice, so that adjustments would
  // count twice, or is too large to be written down.
  explicit ForestPart(const hypergraph::Cells& cells);

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool complete(const std::vector<Index>& used, double* score) override;
  std::shared_ptr<void> structure() const override { return found_; }

 private:
  [[noreturn]] void refuse() const;
  bool find_derivation(std::vector<hypergraph::Edge>& edges);
  bool find_required(Index needed, std::vector<hypergraph::Edge>& edges);

  const hypergraph::Cells& forest_;
  std::vector<double> weights_, inside_, outside_, edges_;  // [edges], [nodes], [nodes], [edges]
  std::vector<std::int32_t> count_, inside_count_;          // required cells: [edges], [nodes]
  std::vector<std::uint8_t> uses_;                          // [cells]
  std::vector<Index> chosen_;
  std::shared_ptr<FoundDerivation> found_;
};

}  // namespace certus::relax
