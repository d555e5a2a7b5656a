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
  const std::vector<Index> places = lists_.build(f_.edges, f_.find_edges(edges, pairs));
  cell_.resize(static_cast<std::size_t>(pairs));
  for (Index p = 0; p < pairs; ++p) cell_[places[p]] = static_cast<std::int32_t>(cells[p]);
}

void Cells::adjust(const double* adjust, double* out) const {
  std::copy(weights_.begin(), weights_.end(), out);
  for (std::size_t n = 0; n < lists_.edge.size(); ++n) {
    double x = out[lists_.edge[n]];
    for (Index i = lists_.begin[n]; i < lists_.begin[n + 1]; ++i) x += adjust[cell_[i]];
    out[lists_.edge[n]] = x;
  }
}

Index Cells::use(const std::vector<Edge>& edges, std::uint8_t* uses) const {
  Index twice = -1;
  for (const Edge e : edges) {
    const std::int32_t n = lists_.of[e];
    if (n < 0) continue;
    for (Index i = lists_.begin[n]; i < lists_.begin[n + 1]; ++i) {
      if (uses[cell_[i]]) twice = cell_[i];
      uses[cell_[i]] = 1;
    }
  }
  return twice;
}

void Cells::count(const std::uint8_t* marked, std::int32_t* out) const {
  std::fill(out, out + f_.edges, 0);
  for (std::size_t n = 0; n < lists_.edge.size(); ++n)
    for (Index i = lists_.begin[n]; i < lists_.begin[n + 1]; ++i) out[lists_.edge[n]] += marked[cell_[i]];
}

void Cells::largest(const double* edges, double* out) const {
  std::fill(out, out + cell_count_, kNever<double>);
  for (std::size_t n = 0; n < lists_.edge.size(); ++n)
    for (Index i = lists_.begin[n]; i < lists_.begin[n + 1]; ++i)
      out[cell_[i]] = std::max(out[cell_[i]], edges[lists_.edge[n]]);
}

}  // namespace certus::hypergraph
