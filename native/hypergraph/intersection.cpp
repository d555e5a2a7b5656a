#include "hypergraph/intersection.hpp"

#include <algorithm>
#include <numeric>

#include "hypergraph/derivation.hpp"
#include "hypergraph/passes.hpp"

namespace certus::hypergraph {

Above::Above(const Forest& f)
    : head(static_cast<std::size_t>(f.edges)),
      begin(static_cast<std::size_t>(f.nodes) + 1, 0),
      edge(f.tail.size()),
      at(f.tail.size()) {
  for (Node v = 0; v < f.nodes; ++v) std::fill(head.begin() + f.begin[v], head.begin() + f.begin[v + 1], v);
  for (const Node v : f.tail) ++begin[static_cast<std::size_t>(v) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (Edge e = 0; e < f.edges; ++e)
    for (Edge i = f.tail_begin[e]; i < f.tail_begin[e + 1]; ++i) {
      const Index place = next[f.tail[i]]++;
      edge[place] = e, at[place] = i - f.tail_begin[e];
    }
}

Intersection::Intersection(const Relaxation& relaxation, const Above& above, Signatures& signatures)
    : f_(relaxation.forest()), above_(above), signatures_(signatures), weights_(relaxation.adjusted()) {
  max_inside(f_, weights_.data(), in_.data());
  max_outside(f_, weights_.data(), in_.data(), out_.data());
  // What the tails from each one on add at best.
  for (Edge e = 0; e < f_.edges; ++e) {
    double rest = 0;
    for (Edge i = f_.tail_begin[e + 1]; i-- > f_.tail_begin[e];) rest_[i] = rest = in_[f_.tail[i]] + rest;
  }
}

Intersection::Found Intersection::next(double least, double* bound) {
  if (!begun_) {
    begun_ = true;
    for (Edge e = 0; e < f_.edges; ++e)
      if (f_.tail_begin[e] == f_.tail_begin[e + 1]) offer(e, 0, weights_[e], -1, -1, least);
  }
  while (!agenda_.empty()) {
    std::pop_heap(agenda_.begin(), agenda_.end());
    const Waiting top = agenda_.back();
    agenda_.pop_back();
    *bound = top.bound;
    if (top.bound < least) return Found::nothing;
    const Index slot = items_[top.item].slot;
    const Signatures::Id signature = items_[top.item].signature;
    if (!taken_.insert(key(slot, signature)).second) continue;
    last_ = top.item;
    if (slot == f_.goal() && signatures_.is_target(signature)) return Found::goal;
    by_slot_[slot].push_back(top.item);
    expand(top.item, least);
    return Found::state;
  }
  return Found::nothing;
}

// Joins a state with those that were taken before it.
void Intersection::expand(std::int32_t number, double least) {
  const Item item = items_[number];
  if (item.slot >= f_.nodes) {
    const auto tails = by_slot_.find(f_.tail[f_.tail_begin[item.edge] + item.joined]);
    if (tails == by_slot_.end()) return;
    for (const std::int32_t tail : tails->second)
      offer(item.edge, item.joined + 1, item.value + items_[tail].value, number, tail, least);
    return;
  }
  for (Index i = above_.begin[item.slot]; i < above_.begin[item.slot + 1]; ++i) {
    const Edge e = above_.edge[i];
    if (above_.at[i] == 0) {
      offer(e, 1, weights_[e] + item.value, -1, number, least);
      continue;
    }
    const auto before = by_slot_.find(f_.nodes + f_.tail_begin[e] + above_.at[i] - 1);
    if (before == by_slot_.end()) continue;
    for (const std::int32_t left : before->second)
      offer(e, above_.at[i] + 1, items_[left].value + item.value, left, number, least);
  }
}

// A new state, unless it is hopeless. `left` is -1 where the edge itself begins here.
void Intersection::offer(Edge e, std::int32_t joined, double value, std::int32_t left, std::int32_t right,
                         double least) {
  heed_(64);
  const Edge arity = f_.tail_begin[e + 1] - f_.tail_begin[e];
  const Node head = above_.head[e];
  const bool whole = joined == arity;
  const double bound = value + (whole ? 0 : rest_[f_.tail_begin[e] + joined]) + out_[head];
  if (bound < least || bound == kNever<double>) return;
  Signatures::Id signature = left >= 0 ? items_[left].signature : signatures_.of(e);
  if (right >= 0) signature = signatures_.add(signature, items_[right].signature);
  if (signature == Signatures::kNone || (whole && !signatures_.fits(signature, head))) return;
  const Index slot = whole ? head : f_.nodes + f_.tail_begin[e] + joined - 1;
  if (taken_.count(key(slot, signature))) return;  // there is a better one
  agenda_.push_back({bound, static_cast<std::int32_t>(items_.size())});
  std::push_heap(agenda_.begin(), agenda_.end());
  items_.push_back({value, slot, signature, e, joined, left, right});
}

bool Intersection::derivation(std::vector<Edge>& edges) const {
  std::vector<std::int32_t> stack;
  return derive(last_, edges, stack, [&](std::int32_t node) {
    for (std::int32_t i = node; i >= 0 && items_[i].right >= 0; i = items_[i].left) stack.push_back(items_[i].right);
    return items_[node].edge;
  });
}

}  // namespace certus::hypergraph
