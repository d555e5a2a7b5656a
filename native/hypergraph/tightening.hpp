// Lagrangian relaxation to its end, and then, if asked, with more and more constraints put back: Chang & Collins,
// "Exact decoding of phrase-based translation models through Lagrangian relaxation" (EMNLP 2011), and Rush & Collins,
// "Exact decoding of syntactic translation models through Lagrangian relaxation" (ACL 2011).
//
// The constraints that the last rounds violated most are put into the forest, whose nodes then count them: the forest
// of all states of a node and the sums of those constraints, without what cannot beat the best answer. The relaxation
// goes on with the others over that forest.
#pragma once

#include <memory>
#include <vector>

#include "hypergraph/beam.hpp"
#include "hypergraph/constrained.hpp"

namespace certus::hypergraph {

class LagrangianSearch final : public ConstrainedSearch {
 public:
  LagrangianSearch(const Forest& forest, const double* weights, Rows rows, bool tighten);

 private:
  void work() override;
  double open() const override { return open_; }
  bool is_over() const override { return over_; }

  Relaxation& current() { return tightened_ ? *tightened_ : relaxation_; }
  void tighten();
  void choose_rows();
  Rows select_rows() const;
  void rebuild(Beam::Product product);
  void translate(std::vector<Edge>& edges) const;
  void close() { open_ = kNever<double>, over_ = true; }

  const bool tighten_;
  Descent descent_;
  std::vector<Index> violated_;     // [rows]: in how many rounds
  std::vector<std::uint8_t> hard_;  // [rows]: which were put back
  Beam::Product product_;
  std::unique_ptr<Relaxation> tightened_;
  double open_ = std::numeric_limits<double>::infinity();
  bool over_ = false;
};

}  // namespace certus::hypergraph
