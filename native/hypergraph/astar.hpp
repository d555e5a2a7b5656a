// The forest intersected with the constraints, best first, guided by the scores alone.
#pragma once

#include "hypergraph/constrained.hpp"
#include "hypergraph/intersection.hpp"

namespace certus::hypergraph {

class AstarSearch final : public ConstrainedSearch {
 public:
  AstarSearch(const Forest& forest, const double* weights, Rows rows);

 private:
  void work() override;
  double open() const override { return open_; }

  const Above above_;
  Signatures signatures_;
  Intersection intersection_;
  double open_ = std::numeric_limits<double>::infinity();
};

}  // namespace certus::hypergraph
