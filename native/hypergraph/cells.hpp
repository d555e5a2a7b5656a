// A forest whose edges stand for cells of indicator arrays: what it takes to be part of a decomposition.
#pragma once

#include <vector>

#include "hypergraph/edge_lists.hpp"

namespace certus::hypergraph {

class Cells {
 public:
  // Pairs (edge in the user's numbering, cell); scores in the forest's order. Keeps the forest by reference.
  Cells(const Forest& forest, const double* weights, const Index* edges, const Index* cells, Index pairs,
        Index cell_count);

  const Forest& forest() const { return f_; }
  const double* weights() const { return weights_.data(); }
  Index cell_count() const { return cell_count_; }
  bool is_huge() const { return huge_; }  // see passes.hpp

  // out[e] = weights[e] + the sum of adjust over the cells of e.
  void adjust(const double* adjust, double* out) const;
  // Adds one to uses[c] for every edge of the derivation with the cell c; returns a cell used twice, or -1.
  Index use(const std::vector<Edge>& edges, std::uint8_t* uses) const;
  // out[e] = how many cells of e are marked.
  void count(const std::uint8_t* marked, std::int32_t* out) const;
  // out[c] = the largest of edges[e] over the edges with the cell c.
  void largest(const double* edges, double* out) const;

 private:
  const Forest& f_;
  std::vector<double> weights_;
  Index cell_count_;
  bool huge_;
  EdgeLists lists_;                 // of the cells of edges,
  std::vector<std::int32_t> cell_;  // which are these
};

}  // namespace certus::hypergraph
