// The k best paths through a lattice of the cascade: of every state the k best ways to reach it, taken one by one from
// a heap of the best that is left over each edge (Huang and Chiang 2005, algorithm 2).
#include <algorithm>

#include "scoring/cascade.hpp"

namespace certus::learn {
namespace {

// The rank-th best way to a source, gone on from there.
struct Way {
  double score;
  std::uint32_t source, rank;
};

bool worse(const Way& a, const Way& b) {
  if (a.score != b.score) return a.score < b.score;
  return a.source != b.source ? a.source > b.source : a.rank > b.rank;
}

class Ways {
 public:
  Ways(const Level& level, std::size_t k) : level_(level), k_(k), begin_(level.label.size() + 1, 0) {}

  // The ways into all states but the first, which there is one way to.
  void fill() {
    ways_.push_back({0, 0, 0});
    begin_[1] = 1;
    for (std::uint32_t s = 1; s < level_.label.size(); ++s) {
      const std::uint32_t first = level_.from[s], edges = level_.edge_begin[s + 1] - level_.edge_begin[s];
      const float* const edge = level_.edge.data() + level_.edge_begin[s];
      const double node = level_.node[s];
      take(first, first + edges, [=](std::uint32_t source) { return static_cast<double>(edge[source - first]); }, node);
      begin_[s + 1] = ways_.size();
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
                       [](const Way& a, const Way& b) { return worse(b, a); });
      heap_.resize(k_);
    }
    std::make_heap(heap_.begin(), heap_.end(), worse);
    for (std::size_t n = 0; n < k_ && !heap_.empty(); ++n) {
      std::pop_heap(heap_.begin(), heap_.end(), worse);
      const Way best = heap_.back();
      heap_.pop_back();
      ways_.push_back({best.score + node, best.source, best.rank});
      if (push(best.source, best.rank + 1, edge(best.source))) std::push_heap(heap_.begin(), heap_.end(), worse);
    }
  }
  bool push(std::uint32_t source, std::uint32_t rank, double edge) {
    if (edge == kNever<double> || begin_[source] + rank >= begin_[source + 1]) return false;
    heap_.push_back({way(source, rank).score + edge, source, rank});
    return true;
  }

  const Level& level_;
  const std::size_t k_;
  std::vector<std::size_t> begin_;  // [states + 1]
  std::vector<Way> ways_, heap_;
};

}  // namespace

Index Cascade::best_paths(const Level& level, Index k, Label* labels, double* scores) const {
  Ways ways(level, static_cast<std::size_t>(k));
  ways.fill();
  const Index found = static_cast<Index>(ways.finish(level.begin[length_ + 1], level.begin[length_ + 2]));
  for (Index n = 0; n < found; ++n, labels += length_) {
    Way way = ways.last(n);
    scores[n] = way.score;
    for (Index t = length_; t > 0; --t) {
      way = ways.way(way.source, way.rank);
      labels[t - 1] = level.label[way.source];
    }
  }
  return found;
}

}  // namespace certus::learn
