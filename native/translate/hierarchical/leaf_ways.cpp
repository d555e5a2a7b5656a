#include "translate/hierarchical/leaf_ways.hpp"

namespace certus::translate {

LeafWays::LeafWays(const ForestProblem& problem, const LeafGraph& graph, NeighbourScores& scores,
                   const WordPartition& partition)
    : problem_(problem),
      graph_(graph),
      scores_(scores),
      partition_(partition),
      places_(problem.model->automaton().order > 2 ? 2 : 1),
      arrivals_(places_, std::vector<Arrivals>(2 * graph.nodes)) {}

void LeafWays::forget_labels() {
  label_.clear();
  next_.clear();
  row_.clear();
  context_.clear();
  at_.clear();
}

Label LeafWays::make_label(State state, Index context) {
  const Neighbour row = scores_.end_in_state(state);
  Label& label = label_.find(static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(context));
  if (label < 0) {
    label = static_cast<Label>(row_.size());
    row_.push_back(row);
    context_.push_back(context);
    at_.push_back(-1);
  }
  return label;
}

Label LeafWays::label_start(int place) {
  const Index last = partition_.find_part(scores_.start());
  const bool is_pair = place == 0 && places_ > 1;
  return make_label(problem_.model->begin(), is_pair ? partition_.advance(last, scores_.start()) : last);
}

Label LeafWays::label_word(Word word) {
  const State state = problem_.model->automaton().advance(kEmpty, word).state;
  return make_label(state, partition_.find_part(scores_.number(word)));
}

Label LeafWays::advance(Label label, Word word) {
  const std::uint64_t key = static_cast<std::uint64_t>(label) << 32 | word;
  Label& next = next_.find(key);
  if (next < 0) {
    const State state = scores_.find_state(row_[label]);
    next = make_label(problem_.model->automaton().advance(state, word).state,
                      partition_.advance(context_[label], scores_.number(word)));
  }
  return next;
}

void LeafWays::run(const std::vector<Multipliers>& multipliers) {
  multipliers_ = &multipliers;
  const auto run_place = [&]<int place>() {
    for (Index v = 0; v < graph_.nodes; ++v) arrive<place>(LeafGraph::leave(v));
    for (Index v = problem_.forest.goal; v >= 0; --v) arrive<place>(LeafGraph::enter(v));
  };
  if (places_ > 1) run_place.operator()<1>();
  run_place.operator()<0>();
}

void LeafWays::add(Arrivals& made, Label label, double value, Index step) {
  Index& at = at_[label];
  if (at < 0) {
    at = static_cast<Index>(made.label.size());
    made.label.push_back(label);
    made.value.push_back(value);
    made.step.push_back(step);
  } else if (value > made.value[at]) {
    made.value[at] = value;
    made.step[at] = step;
  }
}

template <int place>
void LeafWays::arrive(Index event) {
  Arrivals& made = arrivals_[place][event];
  made.clear();
  if (event == LeafGraph::enter(problem_.forest.goal)) add(made, label_start(place), 0, -1);
  for (Index i = graph_.into_first[event]; i < graph_.into_first[event + 1]; ++i) {
    const Index step = graph_.into[i];
    const double cost = (*multipliers_)[place].step[step];
    visit_arrivals<place>(step, [&](Label label, double value) { add(made, label, value - cost, step); });
  }
  for (const Label label : made.label) at_[label] = -1;
  heed_(20 * static_cast<Index>(made.label.size()) + 100 * (graph_.into_first[event + 1] - graph_.into_first[event]));
}

LeafWays::Words LeafWays::trace(int place, Index step, Label label, std::vector<Multipliers>& slopes) {
  slopes[place].step[step] -= 1;
  const Index before = graph_.from[step];
  return graph_.is_leaf(before) ? trace_leaf(place, graph_.find_leaf(before), label, slopes)
                                : trace_event(place, before, label, slopes);
}

LeafWays::Words LeafWays::trace_event(int place, Index event, Label label, std::vector<Multipliers>& slopes) {
  const Arrivals& arrivals = arrivals_[place][event];
  const auto at = std::ranges::find(arrivals.label, label) - arrivals.label.begin();
  if (at == std::ssize(arrivals.step) || arrivals.step[at] < 0) return {scores_.start(), scores_.start()};
  return trace(place, arrivals.step[at], label, slopes);
}

LeafWays::Words LeafWays::trace_leaf(int place, Index l, Label label, std::vector<Multipliers>& slopes) {
  slopes[place].leaf[l] -= 1;
  const Opening word = scores_.number(graph_.leaf[l]);
  if (place + 1 == places_) return {word, word};
  double value = kNever<double>;
  Label best = -1;  // of the labels before that became this one
  visit_arrivals<1>(graph_.enters[l], [&](Label before, double found) {
    if (found > value && advance(before, graph_.leaf[l]) == label) value = found, best = before;
  });
  return {word, trace(place + 1, graph_.enters[l], best, slopes)[0]};
}

}  // namespace certus::translate
