#include "syntax/kbest.hpp"

#include <algorithm>

namespace certus::syntax {

KBest::KBest(const Forest& forest) : forest_(forest) {
  const std::size_t nodes = forest.symbols().size();
  first_.assign(nodes + 1, 0);
  for (const Forest::Edge& edge : forest.edges()) ++first_[edge.head + 1];
  for (std::size_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
  order_.resize(forest.edges().size());
  std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t n = 0; n < forest.edges().size(); ++n)
    order_[next[forest.edges()[n].head]++] = static_cast<std::int32_t>(n);
  found_.resize(nodes);
  heap_.resize(nodes);
  started_.assign(nodes, 0);
  exhausted_.assign(nodes, 0);
}

void KBest::start(std::int32_t node) {
  started_[node] = 1;
  const std::int32_t choice = forest_.choices()[node];
  if (choice < 0) {  // a leaf
    if (forest_.insides()[node] != kNever<double>) found_[node].push_back({forest_.insides()[node], choice, 0, 0});
    return;
  }
  for (std::int32_t n = first_[node]; n < first_[node + 1]; ++n) {
    const Forest::Edge& edge = forest_.edges()[order_[n]];
    double score = edge.score + forest_.insides()[edge.left];
    if (edge.right >= 0) score += forest_.insides()[edge.right];
    if (score != kNever<double>) heap_[node].push_back({score, order_[n], 0, 0});
  }
  std::make_heap(heap_[node].begin(), heap_[node].end());
}

void KBest::push(std::int32_t node, std::int32_t number, std::int32_t left, std::int32_t right) {
  const Forest::Edge& edge = forest_.edges()[number];
  if (!has(edge.left, left) || (edge.right >= 0 && !has(edge.right, right))) return;
  double score = edge.score + value(edge.left, left);
  if (edge.right >= 0) score += value(edge.right, right);
  heap_[node].push_back({score, number, left, right});
  std::push_heap(heap_[node].begin(), heap_[node].end());
}

bool KBest::has(std::int32_t node, std::int32_t rank) {
  if (!started_[node]) start(node);
  if (exhausted_[node]) return static_cast<std::int32_t>(found_[node].size()) > rank;
  while (static_cast<std::int32_t>(found_[node].size()) <= rank) {
    // What comes after the last one found: each pair of ranks is reached in one way, through (0, right).
    if (!found_[node].empty() && found_[node].back().edge >= 0) {
      const Derivation last = found_[node].back();
      push(node, last.edge, last.left + 1, last.right);
      if (last.left == 0 && forest_.edges()[last.edge].right >= 0) push(node, last.edge, 0, last.right + 1);
    }
    if (heap_[node].empty()) {
      exhausted_[node] = 1;
      return false;
    }
    std::pop_heap(heap_[node].begin(), heap_[node].end());
    const Derivation best = heap_[node].back();
    heap_[node].pop_back();
    found_[node].push_back(best);
  }
  return true;
}

Step KBest::step(std::int32_t node, std::int32_t rank) const {
  if (found_[node].empty()) return {forest_.choices()[node], 0, 0};
  const Derivation& found = found_[node][static_cast<std::size_t>(rank)];
  return {found.edge, found.left, found.right};
}

}  // namespace certus::syntax
