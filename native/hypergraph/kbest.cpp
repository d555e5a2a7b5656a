#include "hypergraph/kbest.hpp"

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"
#include "hypergraph/recursion.hpp"

namespace certus::hypergraph {
namespace {

std::vector<double> insides(const Forest& forest, const double* weights) {
  std::vector<double> in(static_cast<std::size_t>(forest.nodes));
  max_inside(forest, weights, in.data());
  return in;
}

}  // namespace

Edge KBest::View::best(Node v) const {
  Edge e = f.begin[v];
  while (term(e) != in[v]) ++e;
  return e;
}

double KBest::View::term(Edge e) const { return hypergraph::term(MaxPlus{}, f, weights, in, e); }

KBest::KBest(const Forest& forest, const double* weights)
    : f_(forest),
      weights_(weights, weights + forest.edges),
      in_(insides(f_, weights_.data())),
      search_(View{f_, weights_.data(), in_.data()}) {}

bool KBest::next(std::vector<Edge>& edges, double* value) {
  if (too_large_ || !search_.has(f_.goal(), given_)) return false;
  *value = search_.at(f_.goal(), given_).value;
  too_large_ = !extract(given_, edges);
  ++given_;
  return !too_large_;
}

bool KBest::extract(std::size_t wanted, std::vector<Edge>& edges) {
  struct Place {
    Node node;
    std::int32_t rank;
  };
  edges.clear();
  std::vector<Place> stack{{f_.goal(), static_cast<std::int32_t>(wanted)}};
  while (!stack.empty()) {
    const Place place = stack.back();
    stack.pop_back();
    if (static_cast<Index>(edges.size()) == kLargest) return false;
    const auto item = search_.at(place.node, static_cast<std::size_t>(place.rank));
    edges.push_back(item.edge);
    const Edge first = f_.tail_begin[item.edge];
    for (Edge i = f_.tail_begin[item.edge + 1] - first; i-- > 0;)
      stack.push_back({f_.tail[first + i], search_.rank(item, i)});
  }
  return true;
}

}  // namespace certus::hypergraph
