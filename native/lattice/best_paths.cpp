// The k best paths of a lattice: of every state as many of the best ways to reach it as are asked for, the next one
// only when it is (Jiménez and Marzal 1999; Huang and Chiang 2005, algorithm 3).
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

// The ways to states, the best first. What is known of a state at first is the best way, which `memory` has.
class Ways {
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

 public:
  Ways(const Lattice& lattice, const PathMemory& memory)
      : lattice_(lattice), memory_(memory), source_(lattice.size(), kUnknown), number_(lattice.size() + 1, 0) {}

  // The state after all others, which the states of the last position lead to.
  std::uint32_t end() const { return static_cast<std::uint32_t>(lattice_.size()); }
  // Finds the next best way to the end; false if there is none.
  bool extend() {
    down_.assign(1, end());
    for (;;) {
      const Way last = find_last(down_.back());
      if (last.source == 0 || has(last.source, last.rank + 1)) break;
      if (number_[last.source] && lists_[number_[last.source] - 1].ended) break;
      down_.push_back(last.source);
    }
    for (; !down_.empty(); down_.pop_back()) add_way(down_.back());
    return !lists_[number_[end()] - 1].ended;
  }
  Way way(std::uint32_t state, std::uint32_t rank) const {
    return rank ? lists_[number_[state] - 1].ways[rank - 1] : find_first(state);
  }

 private:
  // Of a state: the ways after the first, and those that the next one is among, as a heap.
  struct List {
    std::vector<Way> ways, heap;
    bool ended = false;
  };

  Way find_first(std::uint32_t state) const {
    if (state < end()) {
      if (source_[state] == kUnknown) source_[state] = find_source(lattice_, memory_, state);
      return {memory_.best[state], source_[state], 0};
    }
    const BestPath best = find_best_end(lattice_, memory_);
    return {best.score, best.end, 0};
  }
  Way find_last(std::uint32_t state) const {
    if (!number_[state] || lists_[number_[state] - 1].ways.empty()) return find_first(state);
    return lists_[number_[state] - 1].ways.back();
  }
  bool has(std::uint32_t state, std::uint32_t rank) const {
    return number_[state] && lists_[number_[state] - 1].ways.size() >= rank;
  }
  double edge(std::uint32_t state, std::uint32_t source) const {
    if (state == end()) return 0;
    return static_cast<double>(lattice_.edge[lattice_.edge_begin[state] + (source - lattice_.from[state])]);
  }

  // The next best way to a state, once what its last one goes on from has its next, too.
  void add_way(std::uint32_t state) {
    const Way last = find_last(state);
    if (!number_[state]) begin_list(state, last.source);
    const double node = state == end() ? 0 : lattice_.node[state];
    if (last.source != 0 && has(last.source, last.rank + 1)) {
      std::vector<Way>& heap = lists_[number_[state] - 1].heap;
      heap.push_back({way(last.source, last.rank + 1).score + edge(state, last.source), last.source, last.rank + 1});
      std::push_heap(heap.begin(), heap.end(), is_worse);
    }
    List& list = lists_[number_[state] - 1];
    heed_(16);
    list.ended = list.heap.empty();
    if (list.ended) return;
    std::pop_heap(list.heap.begin(), list.heap.end(), is_worse);
    const Way best = list.heap.back();
    list.heap.pop_back();
    list.ways.push_back({best.score + node, best.source, best.rank});
  }

  // All other sources, with the best ways to them.
  void begin_list(std::uint32_t state, std::uint32_t best) {
    number_[state] = static_cast<std::uint32_t>(lists_.size()) + 1;
    std::vector<Way>& heap = lists_.emplace_back().heap;
    const bool is_end = state == end();
    const std::uint32_t first = is_end ? lattice_.begin[lattice_.positions() - 1] : lattice_.from[state];
    const std::uint32_t last = is_end ? end() : first + lattice_.edges(state);
    heed_(last - first);
    for (std::uint32_t source = first; source < last; ++source) {
      const double score = memory_.best[source] + edge(state, source);
      if (source != best && score != kNever<double>) heap.push_back({score, source, 0});
    }
    std::make_heap(heap.begin(), heap.end(), is_worse);
  }

  const Lattice& lattice_;
  const PathMemory& memory_;
  mutable std::vector<std::uint32_t> source_;  // [states]: the state before on the best way, once it was asked for
  std::vector<std::uint32_t> number_;          // [states + 1]: of its list, from 1; 0 if it has none
  std::vector<List> lists_;
  std::vector<std::uint32_t> down_;  // states that wait for others
  Heed heed_;
};

}  // namespace

Index find_best_paths(const Lattice& lattice, const PathMemory& memory, Index k, Label* labels, double* scores) {
  const Index T = lattice.positions() - 2;
  Ways ways(lattice, memory);
  Index found = 0;
  do {
    Way way = ways.way(ways.end(), static_cast<std::uint32_t>(found));
    scores[found] = way.score;
    for (Index t = T; t > 0; --t) {
      way = ways.way(way.source, way.rank);
      labels[found * T + t - 1] = lattice.label[way.source];
    }
  } while (++found < k && ways.extend());
  return found;
}

}  // namespace certus::lattice
