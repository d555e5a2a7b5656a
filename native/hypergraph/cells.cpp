#include "hypergraph/cells.hpp"

#include <algorithm>

#include "hypergraph/passes.hpp"

namespace certus::hypergraph {

Cells::Cells(const Forest& forest, const double* weights, const Index* edges, const Index* cells, Index pairs,
             Index cell_count)
    : f_(forest),
      weights_(weights, weights + forest.edges),
      cell_count_(cell_count),
      huge_(hypergraph::is_huge(weights, forest.edges)) {
  std::vector<Edge> place(static_cast<std::size_t>(f_.edges));  // the user's number -> ours
  for (Index e = 0; e < f_.edges; ++e) place[f_.edge_id[e]] = static_cast<Edge>(e);
  std::vector<Index> uses(static_cast<std::size_t>(f_.edges) + 1, 0);
  for (Index p = 0; p < pairs; ++p) ++uses[place[edges[p]]];
  of_.assign(static_cast<std::size_t>(f_.edges), -1);
  begin_.push_back(0);
  for (Edge e = 0; e < f_.edges; ++e) {
    if (!uses[e]) continue;
    of_[e] = static_cast<std::int32_t>(edge_.size());
    edge_.push_back(e);
    begin_.push_back(begin_.back() + uses[e]);
  }
  cell_.resize(static_cast<std::size_t>(pairs));
  std::vector<Index> next(begin_.begin(), begin_.end());
  for (Index p = 0; p < pairs; ++p) cell_[next[of_[place[edges[p]]]]++] = static_cast<std::int32_t>(cells[p]);
}

void Cells::adjust(const double* adjust, double* out) const {
  std::copy(weights_.begin(), weights_.end(), out);
  for (std::size_t n = 0; n < edge_.size(); ++n) {
    double x = out[edge_[n]];
    for (Index i = begin_[n]; i < begin_[n + 1]; ++i) x += adjust[cell_[i]];
    out[edge_[n]] = x;
  }
}

Index Cells::use(const std::vector<Edge>& edges, std::uint8_t* uses) const {
  Index twice = -1;
  for (const Edge e : edges) {
    const std::int32_t n = of_[e];
    if (n < 0) continue;
    for (Index i = begin_[n]; i < begin_[n + 1]; ++i) {
      if (uses[cell_[i]]) twice = cell_[i];
      uses[cell_[i]] = 1;
    }
  }
  return twice;
}

void Cells::largest(const double* edges, double* out) const {
  std::fill(out, out + cell_count_, kNever<double>);
  for (std::size_t n = 0; n < edge_.size(); ++n)
    for (Index i = begin_[n]; i < begin_[n + 1]; ++i) out[cell_[i]] = std::max(out[cell_[i]], edges[edge_[n]]);
}

}  // namespace certus::hypergraph
