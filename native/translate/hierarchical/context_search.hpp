// The best derivation of a forest whose leaves are scored in contexts of few values: A* over its product with all
// contexts (Rush & Collins 2011, section 6 and footnote 8).
//
// An item is an edge read up to one of its nodes, or a whole node, with the contexts before and after it. Items are
// taken by their score plus the most that the rest of a derivation adds where every leaf has its best context, which
// the passes over the forest without contexts know. A node is looked at in those contexts alone that an item before it
// has reached.
#pragma once

#include <queue>

#include "translate/hierarchical/forest_bounds.hpp"
#include "translate/hierarchical/leaf_choices.hpp"

namespace certus::translate {

// When to give up.
struct SearchLimits {
  const Stopwatch& watch;
  double seconds;
  Index items;
};

class ContextSearch {
 public:
  ContextSearch(const TargetForest& forest, const LeafGraph& graph, const NeighbourScores& scores,
                const WordPartition& partition, const LeafChoices& choices, const SearchLimits& limits);

  // Returns the best score, or `threshold` where all are below it; of a search that takes too long, a bound.
  // `weight` has the edges without what leaves choose, `bounds` has passes with the best choices.
  // The edges of the derivation, from the goal down and from left to right, go to `edges`; none if there is none.
  double run(const std::vector<double>& weight, const ForestBounds& bounds, double threshold, std::vector<Edge>& edges);

 private:
  using ItemId = std::int32_t;
  struct Item {
    double value;
    Index node;           // the head
    Index symbol;         // the next to be read, in forest.symbols; -1 for whole nodes
    Index before, after;  // contexts
    Edge edge;
    ItemId left, right;  // what it was made of: an edge read so far and a whole node; -1 for none
    bool is_taken = false;
  };
  // A node after a context.
  struct Wanted {
    std::vector<ItemId> readers;  // edges that were read up to it
    std::vector<ItemId> nodes;    // whole ones
  };

  // Begins all edges of a node in a context, when it is wanted there for the first time.
  Wanted& want(Index node, Index context);
  void take(ItemId id);
  bool must_stop();
  void join(ItemId reader, ItemId node);
  // Goes on with an item over the words before the next node, and puts it up.
  void read(Item item);
  void put(const Item& item);
  double bound_rest(const Item& item) const;
  void list_edges(ItemId id, std::vector<Edge>& edges) const;

  const TargetForest& forest_;
  const LeafGraph& graph_;
  const NeighbourScores& scores_;
  const WordPartition& partition_;
  const LeafChoices& choices_;
  SearchLimits limits_;
  const std::vector<double>* weight_ = nullptr;
  const ForestBounds* bounds_ = nullptr;
  double threshold_ = kNever<double>;
  Index taken_ = 0;
  std::vector<Item> items_;
  PairTable known_;         // items by what they are
  PairTable wanted_place_;  // by node and context
  std::vector<Wanted> wanted_;
  std::priority_queue<std::pair<double, ItemId>> agenda_;
  Heed heed_;
};

}  // namespace certus::translate
