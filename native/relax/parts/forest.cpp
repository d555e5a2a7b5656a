#include "relax/parts/forest.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"

namespace certus::relax {

using hypergraph::Edge;
using hypergraph::Forest;
using hypergraph::Node;

ForestPart::ForestPart(const hypergraph::Cells& cells)
    : Part(std::vector<double>(cells.cell_count(), 0.0)),
      forest_(cells),
      weights_(cells.forest().edges),
      inside_(cells.forest().nodes),
      outside_(cells.forest().nodes),
      edges_(cells.forest().edges),
      count_(cells.forest().edges),
      inside_count_(cells.forest().nodes),
      uses_(cells.cell_count(), 0) {
  for (Index c = 0; c < this->cells(); ++c) add_group(c, c + 1, false);
}

bool ForestPart::find_derivation(std::vector<Edge>& edges) {
  const Forest& f = forest_.forest();
  forest_.adjust(sums_.data(), weights_.data());
  const Index needed = std::count(required_.begin(), required_.end(), std::uint8_t{1});
  if (needed > 0) return find_required(needed, edges);
  hypergraph::max_inside(f, weights_.data(), inside_.data());
  if (inside_[f.goal()] == kNever<double>) return false;
  if (!hypergraph::best_derivation(f, weights_.data(), inside_.data(), edges)) refuse();
  return true;
}

// The best derivation under pairs (required cells that it uses, score) in lexical order: of those that use all of the
// required cells, if there are any, the one with the highest score. No large bonus is needed.
bool ForestPart::find_required(Index needed, std::vector<Edge>& edges) {
  const Forest& f = forest_.forest();
  forest_.count(required_.data(), count_.data());
  const auto weigh = [&](Edge e, std::int32_t* count) {
    double sum = weights_[e];
    *count = count_[e];
    for (Edge i = f.tail_begin[e]; i < f.tail_begin[e + 1]; ++i)
      sum += inside_[f.tail[i]], *count += inside_count_[f.tail[i]];
    return sum;
  };
  Heed heed;
  for (Node v = 0; v < f.nodes; ++v) {
    inside_[v] = kNever<double>;
    inside_count_[v] = -1;
    heed(f.begin[v + 1] - f.begin[v] + 1);
    for (Edge e = f.begin[v]; e < f.begin[v + 1]; ++e) {
      std::int32_t count;
      const double sum = weigh(e, &count);
      if (sum == kNever<double> || count < inside_count_[v]) continue;
      if (count > inside_count_[v] || sum > inside_[v]) inside_count_[v] = count, inside_[v] = sum;
    }
  }
  if (inside_count_[f.goal()] < needed) return false;
  std::vector<Node> stack;
  const bool fits = hypergraph::derive(f, edges, stack, [&](Node v) {
    for (Edge e = f.begin[v];; ++e) {
      std::int32_t count;
      if (const double sum = weigh(e, &count); count == inside_count_[v] && sum == inside_[v]) return e;
    }
  });
  if (!fits) refuse();
  return true;
}

void ForestPart::refuse() const {
  throw PartError(this, -1, "the best derivation has more than " + std::to_string(hypergraph::kLargest) + " edges");
}

double ForestPart::maximize(std::vector<Index>& used) {
  used.clear();
  auto found = std::make_shared<FoundDerivation>();
  if (!find_derivation(found->edges)) return kNever<double>;
  std::fill(uses_.begin(), uses_.end(), 0);
  const Index twice = forest_.use(found->edges, uses_.data());
  if (twice >= 0) throw PartError(this, twice, {});
  for (Index c = 0; c < cells(); ++c)
    if (uses_[c]) used.push_back(c);
    else if (required_[c]) return kNever<double>;
  found->score = hypergraph::score(forest_.weights(), found->edges);
  found_ = std::move(found);
  return found_->score;
}

bool ForestPart::complete(const std::vector<Index>& used, double* score) {
  const std::vector<double> sums = sums_;
  const std::vector<std::uint8_t> required = required_;
  std::fill(sums_.begin(), sums_.end(), kNever<double>);
  std::fill(required_.begin(), required_.end(), 0);
  for (const Index c : used) sums_[c] = 0, required_[c] = 1;
  *score = maximize(chosen_);
  sums_ = sums;
  required_ = required;
  return true;
}

// What is required is not looked at: the numbers are too high there, which is allowed.
bool ForestPart::max_marginals(double* with, double* without) {
  const Forest& f = forest_.forest();
  forest_.adjust(sums_.data(), weights_.data());
  hypergraph::max_inside(f, weights_.data(), inside_.data());
  const double best = inside_[f.goal()];
  if (best == kNever<double>) {
    std::fill_n(with, cells(), kNever<double>);
    std::fill_n(without, cells(), kNever<double>);
    return true;
  }
  hypergraph::max_outside(f, weights_.data(), inside_.data(), outside_.data());
  hypergraph::max_marginals(f, weights_.data(), inside_.data(), outside_.data(), edges_.data());
  forest_.largest(edges_.data(), with);
  for (Index c = 0; c < cells(); ++c) without[c] = required_[c] ? kNever<double> : best;
  return true;
}

}  // namespace certus::relax
