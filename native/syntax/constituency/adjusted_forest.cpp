#include "syntax/constituency/adjusted_forest.hpp"

#include <algorithm>
#include <utility>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"

namespace certus::syntax {

AdjustedForest::AdjustedForest(ParseForest forest)
    : forest_(std::move(forest)), weights_(forest_.scores), inside_(forest_.symbols.size()) {}

double AdjustedForest::maximize(const double* adjust, Index tags) {
  for (const ParseForest::Word& word : forest_.words)
    weights_[word.edge] = forest_.scores[word.edge] + adjust[word.position * tags + word.tag];
  hypergraph::max_inside(forest_.graph, weights_.data(), inside_.data());
  return inside_[forest_.graph.goal()];
}

void AdjustedForest::write_best(std::vector<hypergraph::Edge>& edges) const {
  hypergraph::best_derivation(forest_.graph, weights_.data(), inside_.data(), edges);
}

void AdjustedForest::max_marginals(Index tags, double* out) const {
  const LocalArena arena;
  double* outside = arena.get<double>(forest_.graph.nodes);
  hypergraph::max_outside(forest_.graph, weights_.data(), inside_.data(), outside);
  for (const ParseForest::Word& word : forest_.words) {
    double& best = out[word.position * tags + word.tag];
    best = std::max(best, outside[word.node] + weights_[word.edge]);
  }
}

}  // namespace certus::syntax
