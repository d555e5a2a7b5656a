#include "hypergraph/kbest.hpp"

#include <algorithm>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"
#include "hypergraph/recursion.hpp"

namespace certus::hypergraph {
namespace {

std::vector<double> find_insides(const Forest& forest, const double* weights) {
  std::vector<double> in(static_cast<std::size_t>(forest.nodes));
  max_inside(forest, weights, in.data());
  return in;
}

// Where the ranks of an item begin in the pool.
Index place(std::int32_t first, std::int32_t second) { return static_cast<Index>(~first) << 31 | second; }

}  // namespace

KBest::KBest(const Forest& forest, const double* weights)
    : f_(forest),
      weights_(weights, weights + forest.edges),
      in_(find_insides(f_, weights_.data())),
      lists_(static_cast<std::size_t>(f_.nodes)) {}

bool KBest::next(std::vector<Edge>& edges, double* value) {
  if (too_large_ || !find(f_.goal(), given_)) return false;
  *value = list(f_.goal()).found[given_].value;
  too_large_ = !extract(given_, edges);
  ++given_;
  return !too_large_;
}

// The weight of an edge and the insides of its tails, added up from left to right.
double KBest::term(Edge e) const { return hypergraph::term(MaxPlus{}, f_, weights_.data(), in_.data(), e); }

std::int32_t KBest::rank(const Item& item, Edge i) const {
  if (item.first < 0) return pool_[place(item.first, item.second) + i];
  return i == 0 ? item.first : i == 1 ? item.second : 0;
}

// Ties go to the lower edge, then to the lower ranks, or with more than two tails to what was made first.
bool KBest::is_worse(const Item& a, const Item& b) {
  if (a.value != b.value) return a.value < b.value;
  if (a.edge != b.edge) return a.edge > b.edge;
  if (a.first < 0 && b.first < 0) return place(a.first, a.second) > place(b.first, b.second);
  if (a.first < 0 || b.first < 0) return a.first < 0;
  return a.first != b.first ? a.first > b.first : a.second > b.second;
}

// The derivations of a node that has one, the best of them to begin with.
KBest::List& KBest::list(Node v) {
  if (!lists_[v]) {
    lists_[v] = &made_.emplace_back();
    Edge e = f_.begin[v];
    while (term(e) != in_[v]) ++e;
    lists_[v]->found.push_back({in_[v], e});
  }
  return *lists_[v];
}

// Whether a node has a derivation of this rank, which is found for it.
bool KBest::find(Node goal, std::size_t wanted) {
  if (in_[goal] == kNever<double>) return false;
  stack_.assign(1, {goal, wanted});
  while (!stack_.empty()) {
    heed_(64);
    const Ranked top = stack_.back();
    List& l = list(top.node);
    if (l.found.size() > top.rank || l.exhausted) {
      stack_.pop_back();
      continue;
    }
    Ranked needs{};
    if (!advance(top.node, l, &needs)) stack_.push_back(needs);
  }
  return list(goal).found.size() > wanted;
}

// Finds the next derivation of v, or says what it needs for that.
bool KBest::advance(Node v, List& l, Ranked* needs) {
  if (!l.opened) open(v, l);
  const Item last = l.found.back();
  const Edge tails = arity(last.edge);
  if (l.position < 0) {
    l.position = 0;
    for (Edge i = 0; i < tails; ++i)
      if (rank(last, i) > 0) l.position = i;
  }
  for (; l.position < tails; ++l.position) {
    const Node below = tail(last.edge, l.position);
    const std::size_t further = static_cast<std::size_t>(rank(last, l.position)) + 1;
    const List& ranks = list(below);
    if (ranks.found.size() > further) add_neighbour(l, last, l.position);
    else if (!ranks.exhausted) {
      *needs = {below, further};
      return false;
    }
  }
  if (l.candidates.empty()) {
    l.exhausted = true;
    return true;
  }
  std::pop_heap(l.candidates.begin(), l.candidates.end(), is_worse);
  l.found.push_back(l.candidates.back());
  l.candidates.pop_back();
  l.position = -1;
  return true;
}

// The best of every other edge become candidates.
void KBest::open(Node v, List& l) {
  l.opened = true;
  for (Edge e = f_.begin[v]; e < f_.begin[v + 1]; ++e) {
    const double x = term(e);
    if (x != kNever<double> && e != l.found[0].edge) l.candidates.push_back({x, e});
  }
  expanded_ += static_cast<Index>(l.candidates.size());
  std::make_heap(l.candidates.begin(), l.candidates.end(), is_worse);
}

// Adds the derivation that is one rank further than `last` at one tail.
void KBest::add_neighbour(List& l, const Item& last, Edge position) {
  const Edge tails = arity(last.edge);
  const Index at = static_cast<Index>(pool_.size());
  Item item{weights_[last.edge], last.edge, rank(last, 0) + (position == 0), rank(last, 1) + (position == 1)};
  for (Edge i = 0; i < tails; ++i) {
    const std::int32_t r = rank(last, i) + (i == position);
    if (tails > 2) pool_.push_back(r);
    item.value += list(tail(last.edge, i)).found[r].value;  // in the order of `term`: values never rise
  }
  if (tails > 2) item.first = ~static_cast<std::int32_t>(at >> 31), item.second = at & 0x7fffffff;
  l.candidates.push_back(item);
  std::push_heap(l.candidates.begin(), l.candidates.end(), is_worse);
  ++expanded_;
}

bool KBest::extract(std::size_t wanted, std::vector<Edge>& edges) {
  return derive(Ranked{f_.goal(), wanted}, edges, stack_, [this](const Ranked& top) {
    const Item item = list(top.node).found[top.rank];
    for (Edge i = arity(item.edge); i-- > 0;)
      stack_.push_back({tail(item.edge, i), static_cast<std::size_t>(rank(item, i))});
    return item.edge;
  });
}

}  // namespace certus::hypergraph
