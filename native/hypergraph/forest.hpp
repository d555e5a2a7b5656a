// A packed forest: an acyclic directed hypergraph, its nodes in topological order and its edges sorted by head.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace certus::hypergraph {

using Node = std::int32_t;
using Edge = std::int32_t;  // also offsets into edges and tails: forests have fewer than 2^31 of each

// What the user gives: edge e derives heads[e] from tails[offsets[e] ... offsets[e + 1]).
struct Given {
  Index nodes, edges;
  const Index* heads;    // [edges]
  const Index* offsets;  // [edges + 1]
  const Index* tails;    // [offsets[edges]]
  const Index* goals;    // [goal_count]
  Index goal_count;
};

enum class Fault { none, offsets, head, tail, goal, cycle };

// Inside, every tail is numbered below its head. Where there are several goals, one more node, the last, stands above
// them, with an edge to each; those edges come after the user's.
struct Forest {
  Index nodes = 0, edges = 0;  // with the node and the edges above the goals
  Index given_nodes = 0, given_edges = 0;
  std::vector<Edge> begin;           // [nodes + 1]: the edges of node v are begin[v] ... begin[v + 1]
  std::vector<Edge> tail_begin;      // [edges + 1]
  std::vector<Node> tail;            // [tail_begin[edges]]
  std::vector<std::uint8_t> binary;  // [nodes]: whether all edges of a node have two tails
  std::vector<Node> node_id;         // [nodes]: the user's number of each node; the one above the goals has given_nodes
  std::vector<Edge> edge_id;      // [edges]: the user's number of each edge; from given_edges on those above the goals
  bool in_order = true;           // whether edge_id[e] == e for every edge: the user's scores are read as they lie
  Index widest = 0, longest = 0;  // the most edges of a node, the most tails of an edge

  Node goal() const { return goal_; }
  // The places of edges that the user numbers.
  std::vector<Edge> find_edges(const Index* ids, Index count) const;

  Fault fault = Fault::none;
  Index where = -1;         // the index of what is wrong
  std::vector<Node> cycle;  // the user's nodes on a cycle, each derived from the next

  explicit Forest(const Given& given);

 private:
  bool check(const Given& given);
  void group(const Given& given, const std::vector<Node>& place, std::vector<Edge>& first,
             std::vector<Edge>& order) const;
  bool sort(const Given& given, std::vector<Node>& place);
  void lay(const Given& given, const std::vector<Node>& place);
  void crown(const Given& given, const std::vector<Node>& place);

  Node goal_ = 0;
};

}  // namespace certus::hypergraph
