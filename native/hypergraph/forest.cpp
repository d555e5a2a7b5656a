#include "hypergraph/forest.hpp"

#include <algorithm>
#include <numeric>

namespace certus::hypergraph {

Forest::Forest(const Given& given) : given_nodes(given.nodes), given_edges(given.edges) {
  if (!check(given)) return;
  std::vector<Node> place(static_cast<std::size_t>(given.nodes));  // the user's number -> ours
  if (!sort(given, place)) return;
  lay(given, place);
  if (given.goal_count > 1) crown(given, place);
  else goal_ = place[static_cast<std::size_t>(given.goals[0])];
}

bool Forest::check(const Given& given) {
  const auto fail = [&](Fault what, Index at) {
    fault = what, where = at;
    return false;
  };
  if (given.offsets[0] != 0) return fail(Fault::offsets, 0);
  for (Index e = 0; e < given.edges; ++e)
    if (given.offsets[e + 1] < given.offsets[e]) return fail(Fault::offsets, e + 1);
  const auto outside = [&](Index v) {
    return static_cast<std::uint64_t>(v) >= static_cast<std::uint64_t>(given.nodes);
  };
  for (Index e = 0; e < given.edges; ++e)
    if (outside(given.heads[e])) return fail(Fault::head, e);
  for (Index i = 0; i < given.offsets[given.edges]; ++i)
    if (outside(given.tails[i])) return fail(Fault::tail, i);
  for (Index i = 0; i < given.goal_count; ++i)
    if (outside(given.goals[i])) return fail(Fault::goal, i);
  return true;
}

// Counting sort of the edges by the place of their heads; edges of one head keep the user's order.
void Forest::group(const Given& given, const std::vector<Node>& place, std::vector<Edge>& first,
                   std::vector<Edge>& order) const {
  first.assign(static_cast<std::size_t>(given.nodes) + 1, 0);
  order.resize(static_cast<std::size_t>(given.edges));
  for (Index e = 0; e < given.edges; ++e) ++first[static_cast<std::size_t>(place[given.heads[e]]) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Edge> next(first.begin(), first.end() - 1);
  for (Index e = 0; e < given.edges; ++e) order[next[place[given.heads[e]]]++] = static_cast<Edge>(e);
}

// Gives every node its place. Nodes that are numbered with tails below heads keep their numbers; else a depth-first
// search finishes tails before heads, and meets a cycle where it comes back to a node that it has not finished.
bool Forest::sort(const Given& given, std::vector<Node>& place) {
  std::iota(place.begin(), place.end(), 0);
  bool sorted = true;
  for (Index e = 0; e < given.edges && sorted; ++e)
    for (Index i = given.offsets[e]; i < given.offsets[e + 1]; ++i) sorted &= given.tails[i] < given.heads[e];
  if (sorted) return true;

  std::vector<Edge> first, order;
  group(given, place, first, order);
  enum : std::uint8_t { fresh, open, done };
  struct Frame {
    Node node;
    Edge edge;   // into order
    Index tail;  // of that edge, from its first
  };
  std::vector<std::uint8_t> state(static_cast<std::size_t>(given.nodes), fresh);
  std::vector<Frame> stack;
  Node finished = 0;
  for (Index root = 0; root < given.nodes; ++root) {
    if (state[root] != fresh) continue;
    state[root] = open;
    stack.push_back({static_cast<Node>(root), first[root], 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.edge == first[top.node + 1]) {
        state[top.node] = done;
        place[top.node] = finished++;
        stack.pop_back();
        continue;
      }
      const Index e = order[top.edge], i = given.offsets[e] + top.tail;
      if (i == given.offsets[e + 1]) {
        ++top.edge, top.tail = 0;
        continue;
      }
      ++top.tail;
      const Node below = static_cast<Node>(given.tails[i]);
      if (state[below] == fresh) {
        state[below] = open;
        stack.push_back({below, first[below], 0});
      } else if (state[below] == open) {
        fault = Fault::cycle;
        auto from = std::find_if(stack.begin(), stack.end(), [&](const Frame& f) { return f.node == below; });
        for (; from != stack.end(); ++from) cycle.push_back(from->node);
        return false;
      }
    }
  }
  return true;
}

void Forest::lay(const Given& given, const std::vector<Node>& place) {
  nodes = given.nodes, edges = given.edges;
  group(given, place, begin, edge_id);
  node_id.resize(static_cast<std::size_t>(nodes));
  for (Index v = 0; v < nodes; ++v) node_id[place[v]] = static_cast<Node>(v);
  const Index extra = given.goal_count > 1 ? given.goal_count : 0;
  tail_begin.reserve(static_cast<std::size_t>(edges + extra) + 1);
  tail.resize(static_cast<std::size_t>(given.offsets[edges]));
  tail_begin.push_back(0);
  Edge at = 0;
  for (Index n = 0; n < edges; ++n) {
    const Index e = edge_id[n];
    in_order &= e == n;
    for (Index i = given.offsets[e]; i < given.offsets[e + 1]; ++i) tail[at++] = place[given.tails[i]];
    tail_begin.push_back(at);
    longest = std::max(longest, given.offsets[e + 1] - given.offsets[e]);
  }
  binary.assign(static_cast<std::size_t>(nodes), 1);
  for (Index v = 0; v < nodes; ++v) {
    widest = std::max<Index>(widest, begin[v + 1] - begin[v]);
    for (Edge e = begin[v]; e < begin[v + 1]; ++e) binary[v] &= tail_begin[e + 1] - tail_begin[e] == 2;
  }
}

std::vector<Edge> Forest::find_edges(const Index* ids, Index count) const {
  std::vector<Edge> place(static_cast<std::size_t>(edges)), found;
  for (Index e = 0; e < edges; ++e) place[edge_id[e]] = static_cast<Edge>(e);
  for (Index n = 0; n < count; ++n) found.push_back(place[ids[n]]);
  return found;
}

// One node above several goals, so that everything else knows a single goal.
void Forest::crown(const Given& given, const std::vector<Node>& place) {
  for (Index i = 0; i < given.goal_count; ++i) {
    tail.push_back(place[given.goals[i]]);
    tail_begin.push_back(static_cast<Edge>(tail.size()));
    edge_id.push_back(static_cast<Edge>(edges++));
  }
  begin.push_back(static_cast<Edge>(edges));
  binary.push_back(0);
  node_id.push_back(static_cast<Node>(given.nodes));
  goal_ = static_cast<Node>(nodes++);
  in_order = false;
  widest = std::max(widest, given.goal_count);
  longest = std::max<Index>(longest, 1);
}

}  // namespace certus::hypergraph
