// Items: nodes with the boundaries of what they became, those that are alike merged.
#pragma once

#include <algorithm>

#include "base/probing.hpp"
#include "translate/hierarchical/forest_search.hpp"

namespace certus::translate {

using ItemId = std::uint32_t;

// A hash of text that can be put together from those of its parts.
struct TextHash {
  std::uint64_t value = 0, power = 1;

  static constexpr std::uint64_t kBase = hashing::kRoot5;
  void add(Word word) { add({hashing::spread(word), kBase}); }
  void add(const TextHash& other) {
    value = value * other.power + other.value;
    power *= other.power;
  }
};

struct Item {
  Piece piece;
  double value;  // its score with the most that its left boundary adds, as far as it is bounded by what is inside
  double whole;  // the best derivation that it may become part of, where that is known; else its value
  TextHash text;
  std::uint32_t tails;  // where those of its edge begin
  Edge edge;            // in the sorted forest
  std::int32_t next;    // the next item with the same boundaries while a node is made, or -1
};

// The items of one node, while they are made. At most k have the same boundaries.
class ItemTable {
 public:
  ItemTable(Index k, bool distinct) : k_(k), distinct_(distinct) {}

  void clear() {
    items.clear();
    tails.clear();
    std::ranges::fill(slots_, Slot{});
    used_ = 0;
  }
  void add(const Item& item, std::span<const ItemId> parts);

  std::vector<Item> items;
  std::vector<ItemId> tails;

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t head = -1;
    std::int32_t count = 0;
  };
  Slot& find(std::uint64_t key);
  void put(std::size_t at, const Item& item, std::span<const ItemId> parts);

  Index k_;
  bool distinct_;
  std::size_t used_ = 0;
  std::vector<Slot> slots_{1024};
};

// The items of all nodes, those of a node best first by value.
struct ItemChart {
  std::vector<Item> items;
  std::vector<ItemId> tails;  // in items
  std::vector<Index> first;   // [nodes + 1]

  explicit ItemChart(Index nodes) { first.reserve(nodes + 1), first.push_back(0); }
  std::span<const Item> list(Index node) const {
    return {items.data() + first[node], static_cast<std::size_t>(first[node + 1] - first[node])};
  }
  // Takes over the items of the next node, at most `width` of the best wholes. Returns the best of those left out.
  double take(ItemTable& table, Index width);
  // The edges of the derivation of an item, as the sorted forest numbers them.
  void list_edges(ItemId item, const TargetForest& forest, std::vector<Edge>& edges) const;
};

// Makes items from edges and items of their nodes.
class ItemMaker {
 public:
  ItemMaker(const ForestProblem& problem, LeftTable& lefts)
      : problem_(problem),
        lefts_(lefts),
        starts_(find_starts(problem.forest)),
        joiner_(*problem.model, lefts, problem.weight) {}

  Item make(const ItemChart& chart, Index head, Index edge, std::span<const ItemId> parts);
  // The score of a whole derivation, which has read <s>.
  double finish(const Piece& piece) const {
    return piece.score + problem_.weigh(problem_.model->automaton().advance(piece.right, kEnd).score);
  }

 private:
  const ForestProblem& problem_;
  LeftTable& lefts_;
  std::vector<char> starts_;
  Joiner joiner_;
};

// The best whole derivations of a chart that is complete, and what the rest is worth.
class ForestIncumbents {
 public:
  explicit ForestIncumbents(const ForestOptions& options) : k_(options.k), distinct_(options.distinct) {}

  // Adds the derivations of the goal of a chart; the problem is the one that the chart was made for.
  void add_goal(const ForestProblem& problem, const ItemChart& chart, ItemMaker& maker);
  // Adds a derivation by its edges in the sorted forest, with a hash of its text.
  void add(const ForestProblem& problem, std::vector<Edge> edges, std::uint64_t text);
  // What a derivation must reach to be of use.
  double lower() const {
    return static_cast<Index>(best_.size()) < k_ ? kNever<double> : best_.back().derivation.score;
  }
  double threshold() const { return lower() == kNever<double> ? lower() : lower() - find_forest_margin(lower()); }
  // Whether nothing that was not seen is better, where it scores no more than `unseen`.
  bool are_proven(double unseen) const {
    return unseen == kNever<double> || (lower() > kNever<double> && unseen <= lower() + find_forest_margin(lower()));
  }
  // Settles an answer, where no derivation that was not seen scores more than `unseen`.
  void settle(double unseen, ForestAnswer& answer);

 private:
  struct Entry {
    ForestDerivation derivation;
    std::uint64_t text;
  };
  void add(Entry entry);

  Index k_;
  bool distinct_;
  std::vector<Entry> best_;
};

// Adds what cube pruning finds in little time.
void find_incumbents(const ForestProblem& problem, const ForestOptions& options, ForestIncumbents& found,
                     ForestAnswer& answer);

}  // namespace certus::translate
