// The best ways through the graph of leaves, from each leaf to those that may stand right after it, and after that
// (Rush & Collins 2011, section 5 and appendix A).
//
// Ways are found by passes over the graph, which has no cycles. Ways to the same event whose words the language model
// cannot tell apart, and which are in the same parts, have the same label: of those, only the best is kept.
#pragma once

#include <array>

#include "base/interrupt.hpp"
#include "translate/hierarchical/leaf_graph.hpp"
#include "translate/hierarchical/word_partition.hpp"
#include "translate/pair_table.hpp"

namespace certus::translate {

using Label = std::int32_t;

// What a way costs for the leaf that it begins in, and for its steps, in one of the places before a leaf.
struct Multipliers {
  std::vector<double> leaf, step;
};

// For each label that may arrive at an event, the best way to it, and its last step.
struct Arrivals {
  std::vector<Label> label;
  std::vector<double> value;
  std::vector<Index> step;  // -1 at the beginning

  void clear() { label.clear(), value.clear(), step.clear(); }
};

// Place 0 is the leaf right before, with all that the model knows; place 1 the one before that.
class LeafWays {
 public:
  LeafWays(const ForestProblem& problem, const LeafGraph& graph, NeighbourScores& scores,
           const WordPartition& partition);

  int places() const { return places_; }
  const double* find_row(Label label) const { return scores_.row(row_[label]); }
  Index find_context(Label label) const { return context_[label]; }
  const Arrivals& find_arrivals(int place, Index event) const { return arrivals_[place][event]; }

  void run(const std::vector<Multipliers>& multipliers);
  // To be called after words were put into other parts.
  void forget_labels();
  // Calls visit(label, value) for all that may be right before a step, in place 0.
  template <class Visit>
  void visit(Index step, const Visit& visit) {
    visit_arrivals<0>(step, visit);
  }

  // Takes off what is on the way that ends in a step, or in an event, with a label. Returns the words that it chose.
  using Words = std::array<Opening, 2>;  // by place
  Words trace(int place, Index step, Label label, std::vector<Multipliers>& slopes);
  Words trace_event(int place, Index event, Label label, std::vector<Multipliers>& slopes);

 private:
  template <int place, class Visit>
  void visit_source(Index l, const Visit& visit);
  template <int place, class Visit>
  void visit_arrivals(Index step, const Visit& visit);
  template <int place>
  void arrive(Index event);
  void add(Arrivals& made, Label label, double value, Index step);
  Words trace_leaf(int place, Index l, Label label, std::vector<Multipliers>& slopes);

  Label make_label(State state, Index context);
  Label label_start(int place);
  Label label_word(Word word);
  // The label of what a label and a word after it leave of the model's state.
  Label advance(Label label, Word word);

  const ForestProblem& problem_;
  const LeafGraph& graph_;
  NeighbourScores& scores_;
  const WordPartition& partition_;
  int places_;
  const std::vector<Multipliers>* multipliers_ = nullptr;
  std::vector<std::vector<Arrivals>> arrivals_;  // [places][events of nodes]
  std::vector<Neighbour> row_;                   // [labels] the state of the model
  std::vector<Index> context_;                   // [labels] the parts of its words
  PairTable label_, next_;                       // by row and context; by label and word
  std::vector<Index> at_;                        // [labels] scratch
  Heed heed_;
};

template <int place, class Visit>
void LeafWays::visit_source(Index l, const Visit& visit) {
  const double cost = (*multipliers_)[place].leaf[l];
  const Word word = graph_.leaf[l];
  if (place + 1 == places_) {
    visit(label_word(word), -cost);
  } else if constexpr (place == 0) {
    const Index enter = graph_.enters[l];
    const double all = (*multipliers_)[1].step[enter] + cost;
    visit_arrivals<1>(enter, [&](Label label, double value) { visit(advance(label, word), value - all); });
  }
}

template <int place, class Visit>
void LeafWays::visit_arrivals(Index step, const Visit& visit) {
  const Index before = graph_.from[step];
  if (graph_.is_leaf(before)) {
    visit_source<place>(graph_.find_leaf(before), visit);
    return;
  }
  const Arrivals& arrivals = arrivals_[place][before];
  for (std::size_t i = 0; i < arrivals.label.size(); ++i) visit(arrivals.label[i], arrivals.value[i]);
}

}  // namespace certus::translate
