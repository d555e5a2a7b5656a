// The product of a forest with a language model, as far as a derivation of a threshold may need it.
//
// An item is a node or a prefix of an edge, with the boundaries of its text (boundaries.hpp). Where a prefix that ends
// in the state z is followed by a node, only the best part for each state that it may end in matters:
//   hook(z, node)[z'] = max over the left boundaries a of what a costs after z + the best item (node, a, z'),
// which is the same for all prefixes that end in z (Huang, Zhang & Gildea 2005, "Machine translation as lexicalized
// parsing with hooks"). So a prefix and a node cost as many steps as there are states, not pairs of boundaries. Items
// that EndBounds shows to be of no use are not made.
#pragma once

#include "base/interrupt.hpp"
#include "translate/hierarchical/end_finder.hpp"
#include "translate/hierarchical/forest_items.hpp"
#include "translate/pair_table.hpp"

namespace certus::translate {

class HookSearch {
 public:
  HookSearch(const ForestProblem& problem, const PrefixForest& prefixes, const NeighbourScores& scores,
             const EndBounds& bounds, const ForestOptions& options, const Stopwatch& watch);

  // Finds the best derivation of at least the threshold. Returns whether there was enough time and room for that.
  bool run(double threshold, ForestIncumbents& found, ForestAnswer& answer);

 private:
  struct Part {
    LeftId left;
    State right;
    double value;               // all that no neighbour changes
    std::int32_t before, part;  // of a prefix: the item before and the one of its last node; of a node: edge and item
    Neighbour end;              // what is known of `right` without its context
  };
  // The items of a node, in the order of their left boundaries.
  struct Parts {
    std::vector<Part> items;
    std::vector<LeftId> left;         // each once
    std::vector<Index> first;         // [left + 1] its items
    std::vector<State> right;         // each once
    std::vector<std::int32_t> place;  // [items] where right is
    std::vector<Neighbour> end;       // [right]
  };
  // The best parts of a node after a state.
  struct Hook {
    State right;
    Neighbour end;
    std::int32_t item;
    double value;
  };
  using Hooks = std::vector<Hook>;

  void make_prefix(Index q);
  void start(Index q);
  void add_word(Index q);
  void add_node(Index q);
  void join(const Part& before, Index at, Index node);
  void make_node(Index v);
  void sort_items(Index v);
  const Hooks& find_hooks(Index node, State state);
  void look_at(const EndBounds::Table& table);
  // Whether an item may be part of a derivation of the threshold.
  bool is_needed(LeftId left, Neighbour end, double value) { return value + finder_.find(left, end) >= threshold_; }
  void put(const Part& part);
  void list_edges(Index node, Index item, std::vector<Edge>& edges) const;
  void add_goal(ForestIncumbents& found);

  const ForestProblem& problem_;
  const Automaton& automaton_;
  const PrefixForest& prefixes_;
  const NeighbourScores& scores_;
  const EndBounds& bounds_;
  const ForestOptions& options_;
  const Stopwatch& watch_;
  LeftTable lefts_;
  Joiner joiner_;
  std::vector<std::vector<Part>> prefix_;  // [prefixes]
  std::vector<Parts> node_;                // [nodes]
  std::unordered_map<std::uint64_t, Hooks> hooks_;
  double threshold_ = kNever<double>;
  EndFinder finder_;
  std::vector<Part> made_;  // items of the prefix or node at hand
  PairTable places_;        // of their boundaries
  Hooks best_;
  Index items_ = 0, joined_ = 0;
  Heed heed_;
};

}  // namespace certus::translate
