// A dynamic program over a sentence, written down: items in the order in which they can be built, and for each the
// ways to build it from at most two items before it. What one or two passes over it tell: the best tree, the best
// score with each arc, probabilities, and, as a forest, the k best trees.
#pragma once

#include <vector>

#include "base/interrupt.hpp"
#include "hypergraph/forest.hpp"
#include "relax/watch.hpp"

namespace certus::syntax {

class Program {
 public:
  static constexpr Label kNothing = 0;  // the item that is always there and counts nothing: the tail of short ways
  static constexpr Label kMissing = -1;

  static constexpr Index kWayBytes = 20;  // that a way takes, in memory

  void clear();
  // Room for so many ways, so that they are not moved as they become more.
  void reserve(Index ways);
  // What is asked about the time while the best tree is looked for; null for no limit.
  void set_watch(relax::Watch* watch) { watch_ = watch; }

  // An item is opened, gets its ways, and is closed; without ways there is none, and close() returns kMissing.
  void open() { opened_ = left_.size(); }
  void add(Label left, Label right, double weight, Label part = -1) {
    left_.push_back(left);
    right_.push_back(right);
    weight_.push_back(weight);
    part_.push_back(part);
  }
  // `arc`: what the item adds to a tree, or -1.
  Label close(Label arc = -1);
  void set_goal(Label item) { goal_ = item; }

  Index items() const { return static_cast<Index>(arc_.size()); }
  Index ways() const { return static_cast<Index>(left_.size()); }
  Label goal() const { return goal_; }
  bool is_possible() const { return goal_ != kMissing; }

  // The passes below need a goal.

  // The score of the best tree; lists the arcs that it uses.
  double decode(std::vector<Label>& used);
  // The best score with each arc, [arcs]; -inf where there is none. Returns the best of all.
  double max_marginals(Index arcs, double* out);
  // After max_marginals: for every arc that has one, takes a best tree with it; counts[a] is how many of these trees
  // use arc a, and parts[p], unless null, how many use part p.
  void count_max_marginal_trees(Index arcs, double* counts, double* parts);
  // The logarithm of the sum of exp(score) over all trees, and each arc's share of it, [arcs]; the shares of parts are
  // added to parts[p], unless it is null.
  double marginals(Index arcs, double* out, double* parts = nullptr);

  // The same as a hypergraph: items are nodes but for kNothing, ways are edges in their order.
  hypergraph::Forest make_forest() const;
  const std::vector<double>& weights() const { return weight_; }
  // The arc that the head of a way adds, or -1: [ways].
  std::vector<Label> list_arcs() const;

 private:
  void find_best();
  void find_outside();

  std::vector<Index> begin_{0, 0};  // [items + 1]: the ways of an item
  std::vector<Label> arc_{-1};      // [items]
  std::vector<Label> left_, right_, part_;
  std::vector<double> weight_;
  std::size_t opened_ = 0;
  Label goal_ = kMissing;
  relax::Watch* watch_ = nullptr;

  std::vector<double> in_, out_, share_;
  std::vector<Index> best_, above_;  // [items]: the best way, and the way above in the best tree with the item
  std::vector<Label> stack_, head_;
};

}  // namespace certus::syntax
