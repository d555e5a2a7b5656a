#include "hypergraph/kbest.hpp"

#include <algorithm>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"
#include "hypergraph/recursion.hpp"

namespace certus::hypergraph {

KBest::KBest(const Forest& forest, const double* weights)
    : f_(forest),
      weights_(weights, weights + forest.edges),
      in_(static_cast<std::size_t>(forest.nodes)),
      slot_(static_cast<std::size_t>(forest.nodes), -1) {
  max_inside(f_, weights_.data(), in_.data());
}

bool KBest::next(std::vector<Edge>& edges, double* value) {
  if (best() == kNever<double> || too_large_ || !ensure(f_.goal(), given_)) return false;
  *value = list(f_.goal()).found[given_].value;
  too_large_ = !extract(given_, edges);
  ++given_;
  return !too_large_;
}

KBest::List& KBest::list(Node v) {
  if (slot_[v] < 0) {
    slot_[v] = static_cast<std::int32_t>(lists_.size());
    begin(v, lists_.emplace_back());
  }
  return lists_[slot_[v]];
}

// The best derivation, of a node that has one.
void KBest::begin(Node v, List& l) {
  Edge e = f_.begin[v];
  while (term(MaxPlus{}, f_, weights_.data(), in_.data(), e) != in_[v]) ++e;
  l.found.push_back({in_[v], e, -1, made_++});
}

// The best of every other edge become candidates.
void KBest::open(Node v, List& l) {
  l.opened = true;
  for (Edge e = f_.begin[v]; e < f_.begin[v + 1]; ++e) {
    const double x = term(MaxPlus{}, f_, weights_.data(), in_.data(), e);
    if (x != kNever<double> && e != l.found[0].edge) l.candidates.push_back({x, e, -1, made_++});
  }
  expanded_ += static_cast<Index>(l.candidates.size());
  std::make_heap(l.candidates.begin(), l.candidates.end(), worse);
}

// Makes sure that v has a derivation of this rank; tells whether it has.
bool KBest::ensure(Node goal, std::size_t wanted) {
  struct Frame {
    Node node;
    std::size_t rank;
  };
  std::vector<Frame> stack{{goal, wanted}};
  while (!stack.empty()) {
    const Frame frame = stack.back();
    List& l = list(frame.node);
    if (l.found.size() > frame.rank || l.exhausted) {
      stack.pop_back();
      continue;
    }
    Frame needs{};
    if (!advance(frame.node, l, &needs.node, &needs.rank)) stack.push_back(needs);
  }
  return list(goal).found.size() > wanted;
}

// Finds the next derivation of v, or says what it needs for that.
bool KBest::advance(Node v, List& l, Node* needs, std::size_t* its_rank) {
  if (!l.opened) open(v, l);
  const Item last = l.found.back();
  const Edge first = f_.tail_begin[last.edge], arity = f_.tail_begin[last.edge + 1] - first;
  if (l.position < 0) {
    l.position = 0;
    for (Edge i = 0; i < arity; ++i)
      if (rank(last, i) > 0) l.position = i;
  }
  for (; l.position < arity; ++l.position) {
    const Node below = f_.tail[first + l.position];
    const std::size_t further = static_cast<std::size_t>(rank(last, l.position)) + 1;
    const List& tail = list(below);
    if (tail.found.size() > further) neighbour(l, last, l.position);
    else if (!tail.exhausted) {
      *needs = below, *its_rank = further;
      return false;
    }
  }
  if (l.candidates.empty()) {
    l.exhausted = true;
    return true;
  }
  std::pop_heap(l.candidates.begin(), l.candidates.end(), worse);
  l.found.push_back(l.candidates.back());
  l.candidates.pop_back();
  l.position = -1;
  return true;
}

// Adds the derivation that is one rank further than `last` at one tail.
void KBest::neighbour(List& l, const Item& last, Edge position) {
  const Edge first = f_.tail_begin[last.edge], arity = f_.tail_begin[last.edge + 1] - first;
  const Index ranks = static_cast<Index>(pool_.size());
  double value = weights_[last.edge];
  for (Edge i = 0; i < arity; ++i) {
    const std::int32_t r = rank(last, i) + (i == position);
    pool_.push_back(r);
    value += list(f_.tail[first + i]).found[r].value;  // in the order of the inside pass, so that values never rise
  }
  l.candidates.push_back({value, last.edge, ranks, made_++});
  std::push_heap(l.candidates.begin(), l.candidates.end(), worse);
  ++expanded_;
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
    const Item item = list(place.node).found[place.rank];
    edges.push_back(item.edge);
    const Edge first = f_.tail_begin[item.edge];
    for (Edge i = f_.tail_begin[item.edge + 1] - first; i-- > 0;) stack.push_back({f_.tail[first + i], rank(item, i)});
  }
  return true;
}

}  // namespace certus::hypergraph
