// Lagrangian relaxation of a forest and an n-gram model (Rush & Collins 2011, sections 4 and 5).
//
// Each leaf chooses the leaves before it as suits it best: one for a bigram model, two for a trigram model, and ways
// through the graph of leaves that lead to it. Multipliers are added for the leaves and steps of the derivation, and
// taken off for those that other leaves chose, for each of the two places before a leaf; Polyak steps bring both
// together. Where they agree, or the bound is not above the best derivation known, that is proven. Ways are found by
// passes over the graph, which has no cycles, and leaves with the same word in the same place are one in them.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

#include "base/interrupt.hpp"
#include "translate/hierarchical/forest_bounds.hpp"
#include "translate/hierarchical/forest_items.hpp"
#include "translate/hierarchical/leaf_graph.hpp"
#include "translate/hierarchical/neighbour_scores.hpp"

namespace certus::translate {
namespace {

// For each label that may arrive at an event, the best way to it, and its last step.
struct Arrivals {
  std::vector<Neighbour> label;
  std::vector<double> value;
  std::vector<Index> step;  // -1 at the beginning
};

// Multipliers of one of the places before a leaf.
struct Multipliers {
  std::vector<double> leaf, step;
};

class LeafRelaxation {
 public:
  LeafRelaxation(const ForestProblem& problem, const ForestOptions& options)
      : problem_(problem),
        options_(options),
        automaton_(problem.model->automaton()),
        graph_(problem.forest),
        scores_(problem),
        places_(automaton_.order > 2 ? 2 : 1),
        chosen_(graph_.leaves()),
        inside_(problem.forest.nodes) {
    for (int place = 0; place < places_; ++place) {
      multipliers_.push_back({std::vector<double>(graph_.leaves()), std::vector<double>(graph_.from.size())});
      slopes_ = multipliers_;
      arrivals_.emplace_back(2 * graph_.nodes);
    }
  }

  // The relaxed optimum; its derivation goes to `found`.
  double solve(ForestIncumbents& found) {
    if (places_ > 1) run_ways<1>();
    run_ways<0>();
    costs_.clear();
    for (Index l = 0; l < graph_.leaves(); ++l) chosen_[l] = choose(graph_.enters[l], scores_.number(graph_.leaf[l]));
    const double end = finish();
    run_inside();
    edges_.clear();
    list_edges(problem_.forest.goal);
    if (!edges_.empty()) found.add(problem_, edges_, 0);
    return inside_[problem_.forest.goal].value + end;
  }

  // Finds where derivation and ways disagree. Returns the square of the norm.
  double find_slopes() {
    for (const Edge e : edges_) {
      for (Index l = graph_.leaf_first[e]; l < graph_.leaf_first[e + 1]; ++l) {
        for (int place = 0; place < places_; ++place) add_leaf(place, l, 1);
        trace(0, graph_.enters[l], chosen_[l].label);
      }
      for (Index i = graph_.step_first[e]; i < graph_.step_first[e + 1]; ++i)
        for (int place = 0; place < places_; ++place) add_step(place, graph_.steps[i], 1);
    }
    const Index out = LeafGraph::leave(problem_.forest.goal);
    trace_event(0, out, end_label_[0]);
    if (places_ > 1) trace_event(1, out, end_label_[1]);
    double norm = 0;
    for (const Multipliers& one : slopes_) {
      for (const double slope : one.leaf) norm += slope * slope;
      for (const double slope : one.step) norm += slope * slope;
    }
    return norm;
  }
  void step(double size) {
    for (int place = 0; place < places_; ++place) {
      move(multipliers_[place].leaf, slopes_[place].leaf, size);
      move(multipliers_[place].step, slopes_[place].step, size);
    }
  }

 private:
  struct Choice {
    double value = kNever<double>;
    Neighbour label = -1;
  };
  struct Inside {
    double value = kNever<double>;
    Edge edge = -1;
  };

  // ---- ways: place 0 is the leaf right before, with all that the model knows; place 1 the one before that.

  // Calls visit(label, value) for what leaves a leaf in a place.
  template <int place, class Visit>
  void visit_source(Index l, const Visit& visit) {
    const double cost = multipliers_[place].leaf[l];
    const Word word = graph_.leaf[l];
    if (place + 1 == places_) {
      visit(label_word(word), -cost);
    } else if constexpr (place == 0) {
      const Index enter = graph_.enters[l];
      const double all = multipliers_[1].step[enter] + cost;
      visit_arrivals<1>(enter, [&](Neighbour label, double value) { visit(advance(label, word), value - all); });
    }
  }
  // Calls visit(label, value) for what begins a step.
  template <int place, class Visit>
  void visit_arrivals(Index step, const Visit& visit) {
    const Index before = graph_.from[step];
    if (graph_.is_leaf(before)) {
      visit_source<place>(graph_.find_leaf(before), visit);
      return;
    }
    const Arrivals& arrivals = arrivals_[place][before];
    for (std::size_t i = 0; i < arrivals.label.size(); ++i) visit(arrivals.label[i], arrivals.value[i]);
  }
  template <int place>
  void run_ways() {
    for (Index v = 0; v < graph_.nodes; ++v) arrive<place>(LeafGraph::leave(v));
    for (Index v = problem_.forest.goal; v >= 0; --v) arrive<place>(LeafGraph::enter(v));
  }
  template <int place>
  void arrive(Index event) {
    Arrivals& made = arrivals_[place][event];
    made.label.clear();
    made.value.clear();
    made.step.clear();
    const auto add = [&](Neighbour label, double value, Index step) {
      if (at_.size() <= static_cast<std::size_t>(label)) at_.resize(label + 1, -1);
      if (at_[label] < 0) {
        at_[label] = static_cast<Index>(made.label.size());
        made.label.push_back(label);
        made.value.push_back(value);
        made.step.push_back(step);
      } else if (value > made.value[at_[label]]) {
        made.value[at_[label]] = value;
        made.step[at_[label]] = step;
      }
    };
    if (event == LeafGraph::enter(problem_.forest.goal)) add(scores_.end_in_state(problem_.model->begin()), 0, -1);
    for (Index i = graph_.into_first[event]; i < graph_.into_first[event + 1]; ++i) {
      const Index step = graph_.into[i];
      const double cost = multipliers_[place].step[step];
      visit_arrivals<place>(step, [&](Neighbour label, double value) { add(label, value - cost, step); });
    }
    for (const Neighbour label : made.label) at_[label] = -1;
    heed_(20 * static_cast<Index>(made.label.size()) + 100 * (graph_.into_first[event + 1] - graph_.into_first[event]));
  }

  Neighbour label_word(Word word) { return scores_.end_in_state(automaton_.advance(kEmpty, word).state); }
  // The label of what a label and a word after it leave of the model's state.
  Neighbour advance(Neighbour label, Word word) {
    const std::uint64_t key = static_cast<std::uint64_t>(label) << 32 | word;
    const auto [place, is_new] = next_.try_emplace(key, -1);
    if (is_new) place->second = scores_.end_in_state(automaton_.advance(scores_.find_state(label), word).state);
    return place->second;
  }

  // ---- leaves

  Choice choose(Index step, Opening word) {
    const Index before = graph_.from[step];
    Choice best;
    const auto raise = [&](Neighbour label, double value) {
      const double sum = value + scores_.row(label)[word];
      if (sum > best.value) best = {sum, label};
    };
    if (graph_.is_leaf(before)) {
      visit_arrivals<0>(step, raise);
    } else {  // the same for all leaves with this word after this event
      const auto [place, is_new] = costs_.try_emplace(before * scores_.openings() + word);
      if (is_new) {
        visit_arrivals<0>(step, raise);
        place->second = best;
      }
      best = place->second;
    }
    best.value -= multipliers_[0].step[step];
    return best;
  }
  // The end of the sentence: </s> after the last leaf, and nothing after that.
  double finish() {
    double sum = 0;
    const Index out = LeafGraph::leave(problem_.forest.goal);
    for (int place = 0; place < places_; ++place) {
      Choice best;
      const Arrivals& arrivals = arrivals_[place][out];
      for (std::size_t i = 0; i < arrivals.label.size(); ++i) {
        const double cost = place == 0 ? scores_.row(arrivals.label[i])[scores_.number(kEnd)] : 0;
        if (arrivals.value[i] + cost > best.value) best = {arrivals.value[i] + cost, arrivals.label[i]};
      }
      end_label_[place] = best.label;
      sum += best.value;
    }
    return sum;
  }
  void run_inside() {
    const TargetForest& forest = problem_.forest;
    for (Index v = 0; v < forest.nodes; ++v) {
      inside_[v] = {};
      for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
        double value = forest.score[e];
        for (Index l = graph_.leaf_first[e]; l < graph_.leaf_first[e + 1]; ++l) {
          value += chosen_[l].value;
          for (const Multipliers& one : multipliers_) value += one.leaf[l];
        }
        for (Index i = graph_.step_first[e]; i < graph_.step_first[e + 1]; ++i)
          for (const Multipliers& one : multipliers_) value += one.step[graph_.steps[i]];
        for (const Symbol symbol : forest.list_symbols(e))
          if (is_node(symbol)) value += inside_[~symbol].value;
        if (value > inside_[v].value) inside_[v] = {value, static_cast<Edge>(e)};
      }
    }
  }
  void list_edges(Index node) {
    const Edge edge = inside_[node].edge;
    if (edge < 0) return;
    edges_.push_back(edge);
    for (const Symbol symbol : problem_.forest.list_symbols(edge))
      if (is_node(symbol)) list_edges(~symbol);
  }

  // ---- slopes

  void add_leaf(int place, Index l, double by) { slopes_[place].leaf[l] += by; }
  void add_step(int place, Index step, double by) {
    if (options_.paths) slopes_[place].step[step] += by;
  }
  // Takes off what is on the way that ends in a step with a label.
  void trace(int place, Index step, Neighbour label) {
    add_step(place, step, -1);
    const Index before = graph_.from[step];
    if (graph_.is_leaf(before)) {
      trace_leaf(place, graph_.find_leaf(before), label);
    } else {
      trace_event(place, before, label);
    }
  }
  void trace_event(int place, Index event, Neighbour label) {
    const Arrivals& arrivals = arrivals_[place][event];
    const auto at = std::ranges::find(arrivals.label, label) - arrivals.label.begin();
    if (at < std::ssize(arrivals.step) && arrivals.step[at] >= 0) trace(place, arrivals.step[at], label);
  }
  void trace_leaf(int place, Index l, Neighbour label) {
    add_leaf(place, l, -1);
    if (place + 1 == places_) return;
    Choice best;  // of the labels before that became this one
    visit_arrivals<1>(graph_.enters[l], [&](Neighbour before, double value) {
      if (value > best.value && advance(before, graph_.leaf[l]) == label) best = {value, before};
    });
    trace(place + 1, graph_.enters[l], best.label);
  }
  static void move(std::vector<double>& values, std::vector<double>& slopes, double size) {
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      values[i] -= size * slopes[i];
      slopes[i] = 0;
    }
  }

  const ForestProblem& problem_;
  const ForestOptions& options_;
  const Automaton& automaton_;
  LeafGraph graph_;
  NeighbourScores scores_;
  int places_;
  std::vector<Multipliers> multipliers_, slopes_;  // [places]
  std::vector<std::vector<Arrivals>> arrivals_;    // [places][events of nodes]
  std::vector<Choice> chosen_;                     // [leaves]
  std::array<Neighbour, 2> end_label_{};
  std::vector<Inside> inside_;
  std::vector<Edge> edges_;
  std::unordered_map<std::uint64_t, Neighbour> next_;
  std::unordered_map<Index, Choice> costs_;
  std::vector<Index> at_;  // [labels] scratch
  Heed heed_;
};

// Rounds without a better bound before steps become smaller.
constexpr Index kPatience = 10;

}  // namespace

ForestAnswer search_leaves(const ForestProblem& problem, const ForestOptions& options) {
  if (problem.model->automaton().order > 3)
    throw std::invalid_argument("lagrangian knows models of at most three words; use coarse-to-fine");
  if (derives_nothing(problem.forest))
    throw std::invalid_argument("lagrangian needs forests in which everything derives words; use optimal-beam");
  ForestAnswer answer;
  const Stopwatch watch;
  ForestIncumbents found(options);
  find_incumbents(problem, options, found, answer);
  const ForestBounds bounds = bound_forest(problem);
  double unseen = bounds.inside[problem.forest.goal] + bounds.outside[problem.forest.goal];
  double scale = 1;
  Index stuck = 0;
  LeafRelaxation relaxation(problem, options);
  while (unseen > found.threshold() && answer.beams < options.rounds && !answer.timed_out) {
    const double dual = relaxation.solve(found);
    ++answer.beams;
    stuck = dual < unseen ? 0 : stuck + 1;
    unseen = std::min(unseen, dual);
    const double norm = relaxation.find_slopes();
    if (norm == 0 || unseen <= found.threshold()) break;
    if (stuck == kPatience) scale /= 2, stuck = 0;
    relaxation.step(scale * (dual - std::max(found.lower(), dual - 100)) / norm);
    answer.timed_out = watch.elapsed() > options.seconds;
  }
  answer.relaxation_seconds = watch.elapsed();
  found.settle(unseen, answer);
  return answer;
}

}  // namespace certus::translate
