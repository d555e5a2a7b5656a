// What each leaf, and the end of the sentence, chooses to stand before it, for each context that a derivation may have
// there: of the ways whose words are in the same parts, the best.
#pragma once

#include "translate/hierarchical/leaf_ways.hpp"

namespace certus::translate {

struct LeafChoice {
  double value = kNever<double>;
  Label label = -1;
};

class LeafChoices {
 public:
  LeafChoices(const ForestProblem& problem, const LeafGraph& graph, const NeighbourScores& scores,
              const WordPartition& partition, LeafWays& ways)
      : problem_(problem), graph_(graph), scores_(scores), partition_(partition), ways_(ways), shift_(graph.leaves()) {}

  // Chooses for all leaves, after ways were found with the same multipliers.
  void run(const std::vector<Multipliers>& multipliers);

  // The best choice of a leaf whatever is before it, and the best in a context.
  double find_best(Index l) const { return best_[set_[l]] + shift_[l]; }
  LeafChoice find(Index l, Index context) const {
    const LeafChoice* choice = find_entry(set_[l], context);
    return choice == nullptr ? LeafChoice{} : LeafChoice{choice->value + shift_[l], choice->label};
  }
  // The end: </s> after the last leaf in place 0, and nothing after that in place 1.
  double find_best_end() const { return best_end_; }
  double find_end(Index context) const;
  Label find_end_label(int place, Index context) const;

 private:
  struct Entry {
    Index context;
    LeafChoice choice;
  };
  std::int32_t make_set(Index step, Opening word);
  const LeafChoice* find_entry(std::int32_t set, Index context) const;
  void raise(Label label, double value);
  std::int32_t close_set();
  void run_end();
  // In place 1, the last word alone is known.
  Index shorten(int place, Index context) const { return place == 0 ? context : context % partition_.parts(); }

  const ForestProblem& problem_;
  const LeafGraph& graph_;
  const NeighbourScores& scores_;
  const WordPartition& partition_;
  LeafWays& ways_;
  std::vector<Entry> entries_;             // of all sets
  std::vector<Index> first_;               // [sets + 1]
  std::vector<double> best_;               // [sets]
  std::vector<std::int32_t> set_;          // [leaves] leaves with the same word after the same event share one
  std::vector<double> shift_;              // [leaves] the multiplier of the step into each
  std::array<std::int32_t, 2> end_set_{};  // by place
  double best_end_ = 0;
  PairTable known_;           // sets by event and word
  std::vector<Index> place_;  // [contexts] scratch
};

}  // namespace certus::translate
