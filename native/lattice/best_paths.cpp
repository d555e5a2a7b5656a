// The k best paths of a lattice: of every state the k best ways to reach it, taken one by one from
// a heap of the best that is left over each edge (Huang and Chiang 2005, algorithm 2).
#include <algorithm>

#include "base/interrupt.hpp"
#include "lattice/best_path.hpp"

namespace certus::lattice {
namespace {

// The rank-th best way to a source, gone on from there.
struct Way {
  double score;
  std::uint32_t source, rank;
};

bool is_worse(const Way& a, const Way& b) {
  if (a.score != b.score) return a.score < b.score;
  return a.source != b.source ? a.source > b.source : a.rank > b.rank;
}

class Ways {
 public:
  Ways(const Lattice& lattice, std::size_t k) : lattice_(lattice), k_(k), begin_(lattice.size() + 1, 0) {}

  // The ways into all states but the first, which there is one way to.
  void fill() {
    ways_.push_back({0, 0, 0});
    begin_[1] = 1;
    for (std::uint32_t s = 1; s < lattice_.size(); ++s) {
      const std::uint32_t first = lattice_.from[s], edges = lattice_.edge_begin[s + 1] - lattice_.edge_begin[s];
      const float* const edge = lattice_.edge.data() + lattice_.edge_begin[s];
      const double node = lattice_.node[s];
      take(first, first + edges, [=](std::uint32_t source) { return static_cast<double>(edge[source - first]); }, node);
      begin_[s + 1] = ways_.size();
      heed_(edges + 16 * static_cast<Index>(begin_[s + 1] - begin_[s]));
    }
  }
  // The ways to the end, after `fill`.
  std::size_t finish(std::uint32_t begin, std::uint32_t end) {
    take(begin, end, [](std::uint32_t) { return 0.0; }, 0);
    return ways_.size() - begin_.back();
  }
  const Way& last(std::size_t rank) const { return ways_[begin_.back() + rank]; }
  const Way& way(std::uint32_t state, std::uint32_t rank) const { return ways_[begin_[state] + rank]; }

 private:
  template <class Edge>
  void take(std::uint32_t begin, std::uint32_t end, const Edge& edge, double node) {
    heap_.clear();
    for (std::uint32_t source = begin; source < end; ++source) push(source, 0, edge(source));
    if (heap_.size() > k_) {
      std::nth_element(heap_.begin(), heap_.begin() + k_, heap_.end(),
                       [](const Way& a, const Way& b) { return is_worse(b, a); });
      heap_.resize(k_);
    }
    std::make_heap(heap_.begin(), heap_.end(), is_worse);
    for (std::size_t n = 0; n < k_ && !heap_.empty(); ++n) {
      std::pop_heap(heap_.begin(), heap_.end(), is_worse);
      const Way best = heap_.back();
      heap_.pop_back();
      ways_.push_back({best.score + node, best.source, best.rank});
      if (push(best.source, best.rank + 1, edge(best.source))) std::push_heap(heap_.begin(), heap_.end(), is_worse);
    }
  }
  bool push(std::uint32_t source, std::uint32_t rank, double edge) {
    if (edge == kNever<double> || begin_[source] + rank >= begin_[source + 1]) return false;
    heap_.push_back({way(source, rank).score + edge, source, rank});
    return true;
  }

  const Lattice& lattice_;
  const std::size_t k_;
  std::vector<std::size_t> begin_;  // [states + 1]
  std::vector<Way> ways_, heap_;
  Heed heed_;
};

}  // namespace

Index find_best_paths(const Lattice& lattice, Index k, Label* labels, double* scores) {
  const Index T = lattice.positions() - 2;
  Ways ways(lattice, static_cast<std::size_t>(k));
  ways.fill();
  const Index found = static_cast<Index>(ways.finish(lattice.begin[T + 1], lattice.begin[T + 2]));
  for (Index n = 0; n < found; ++n, labels += T) {
    Way way = ways.last(n);
    scores[n] = way.score;
    for (Index t = T; t > 0; --t) {
      way = ways.way(way.source, way.rank);
      labels[t - 1] = lattice.label[way.source];
    }
  }
  return found;
}

}  // namespace certus::lattice
