#include "syntax/constituency/kbest.hpp"

namespace certus::syntax {

KBest::View::View(const Forest& forest) : forest(forest) {
  const std::size_t nodes = forest.symbols().size();
  first.assign(nodes + 1, 0);
  for (const Forest::Edge& edge : forest.edges()) ++first[edge.head + 1];
  for (std::size_t n = 0; n < nodes; ++n) first[n + 1] += first[n];
  order.resize(forest.edges().size());
  std::vector<std::int32_t> next(first.begin(), first.end() - 1);
  for (std::size_t n = 0; n < forest.edges().size(); ++n)
    order[next[forest.edges()[n].head]++] = static_cast<std::int32_t>(n);
}

double KBest::View::term(std::int32_t edge) const {
  const Forest::Edge& e = forest.edges()[edge];
  const double score = e.score + forest.insides()[e.left];
  return e.right < 0 ? score : score + forest.insides()[e.right];
}

Step KBest::step(std::int32_t node, std::int32_t rank) {
  const auto& item = search_.at(node, static_cast<std::size_t>(rank));
  return {item.edge, item.first, item.second};
}

}  // namespace certus::syntax
