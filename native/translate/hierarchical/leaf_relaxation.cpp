#include "translate/hierarchical/leaf_relaxation.hpp"

#include <stdexcept>
#include <utility>

namespace certus::translate {
namespace {

constexpr double kFew = 0.8;  // of the edges have to stay for a forest not to be made anew

}  // namespace

LeafRelaxation::LeafRelaxation(ForestProblem problem, NeighbourScores& scores, WordPartition& partition,
                               const ForestOptions& options, const SearchLimits& limits)
    : problem_(std::move(problem)),
      scores_(scores),
      partition_(partition),
      options_(options),
      limits_(limits),
      graph_(problem_.forest),
      ways_(problem_, graph_, scores_, partition_),
      choices_(problem_, graph_, scores_, partition_, ways_),
      search_(problem_.forest, graph_, scores_, partition_, choices_, limits),
      multipliers_(ways_.places(), {std::vector<double>(graph_.leaves()), std::vector<double>(graph_.from.size())}),
      slopes_(multipliers_) {}

double LeafRelaxation::solve(ForestIncumbents& found) {
  ways_.run(multipliers_);
  choices_.run(multipliers_);
  weigh_edges();
  run_passes(problem_.forest, choices_.find_best_end(), bounds_);
  const double value = search_.run(weight_, bounds_, found.threshold(), edges_);
  if (!edges_.empty()) found.add(problem_, edges_, 0);
  return value;
}

void LeafRelaxation::weigh_edges() {
  weight_ = problem_.forest.score;
  bounds_.edge.resize(weight_.size());
  for (Index e = 0; e < problem_.forest.edges(); ++e) {
    double& sum = weight_[e];
    for (const Multipliers& one : multipliers_) {
      for (Index l = graph_.leaf_first[e]; l < graph_.leaf_first[e + 1]; ++l) sum += one.leaf[l];
      for (Index i = graph_.step_first[e]; i < graph_.step_first[e + 1]; ++i) sum += one.step[graph_.steps[i]];
    }
    bounds_.edge[e] = sum;
    for (Index l = graph_.leaf_first[e]; l < graph_.leaf_first[e + 1]; ++l) bounds_.edge[e] += choices_.find_best(l);
  }
}

double LeafRelaxation::find_slopes(bool notes_words) {
  for (Multipliers& one : slopes_) {
    std::ranges::fill(one.leaf, 0);
    std::ranges::fill(one.step, 0);
  }
  const Opening start = scores_.start();
  context_ = partition_.advance(partition_.advance(0, start), start);
  before_ = {start, start};
  for (Multipliers& one : slopes_)
    for (const Edge e : edges_)
      for (Index i = graph_.step_first[e]; i < graph_.step_first[e + 1]; ++i) one.step[graph_.steps[i]] += 1;
  visit_words(problem_.forest, edges_, [&](Index i) { read(graph_.leaf_at[i], notes_words); });
  const Index out = LeafGraph::leave(problem_.forest.goal);
  compare(ways_.trace_event(0, out, choices_.find_end_label(0, context_), slopes_), notes_words);
  if (ways_.places() > 1) ways_.trace_event(1, out, choices_.find_end_label(1, context_), slopes_);
  double norm = 0;
  for (Multipliers& one : slopes_) {
    if (!options_.paths) std::ranges::fill(one.step, 0);
    for (const double slope : one.leaf) norm += slope * slope;
    for (const double slope : one.step) norm += slope * slope;
  }
  return norm;
}

void LeafRelaxation::read(Index l, bool notes_words) {
  for (Multipliers& one : slopes_) one.leaf[l] += 1;
  compare(ways_.trace(0, graph_.enters[l], choices_.find(l, context_).label, slopes_), notes_words);
  const Opening word = scores_.number(graph_.leaf[l]);
  context_ = partition_.advance(context_, word);
  before_ = {word, before_[0]};
}

void LeafRelaxation::compare(const LeafWays::Words& chosen, bool notes_words) {
  for (int place = 0; notes_words && place < ways_.places(); ++place)
    partition_.separate(chosen[place], before_[place]);
}

void LeafRelaxation::step(double size) {
  for (int place = 0; place < ways_.places(); ++place) {
    Multipliers& to = multipliers_[place];
    const Multipliers& by = slopes_[place];
    for (std::size_t i = 0; i < by.leaf.size(); ++i) to.leaf[i] -= size * by.leaf[i];
    for (std::size_t i = 0; i < by.step.size(); ++i) to.step[i] -= size * by.step[i];
  }
}

bool LeafRelaxation::tighten() {
  if (!partition_.refine()) return false;
  ways_.forget_labels();
  return true;
}

std::unique_ptr<LeafRelaxation> LeafRelaxation::prune(double threshold) const {
  const TargetForest& forest = problem_.forest;
  std::vector<Index> kept;
  for (Index v = 0; v < forest.nodes; ++v)
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      double best = bounds_.edge[e] + bounds_.outside[v];
      for (const Symbol symbol : forest.list_symbols(e))
        if (is_node(symbol)) best += bounds_.inside[~symbol];
      if (best >= threshold) kept.push_back(e);
    }
  if (static_cast<double>(kept.size()) > kFew * static_cast<double>(forest.edges())) return nullptr;
  auto made =
      std::make_unique<LeafRelaxation>(ForestProblem{select_edges(forest, kept), problem_.model, problem_.weight},
                                       scores_, partition_, options_, limits_);
  for (int place = 0; place < ways_.places(); ++place) {
    const Multipliers& from = multipliers_[place];
    Multipliers& to = made->multipliers_[place];
    for (std::size_t e = 0; e < kept.size(); ++e) {
      Index leaf = graph_.leaf_first[kept[e]], step = graph_.step_first[kept[e]];
      for (Index l = made->graph_.leaf_first[e]; l < made->graph_.leaf_first[e + 1]; ++l)
        to.leaf[l] = from.leaf[leaf++];
      for (Index i = made->graph_.step_first[e]; i < made->graph_.step_first[e + 1]; ++i)
        to.step[made->graph_.steps[i]] = from.step[graph_.steps[step++]];
    }
  }
  return made;
}

namespace {

// Decides when steps become smaller, and when words are divided.
class Schedule {
 public:
  explicit Schedule(bool tightens) : tightens_(tightens) {}

  double scale() const { return scale_; }
  bool notes_words() const { return noting_ > 0; }

  void look(double dual, double unseen, double lower, LeafRelaxation& relaxation) {
    stuck_ = dual < unseen ? 0 : stuck_ + 1;
    if (stuck_ == kPatience) scale_ /= 2, stuck_ = 0;
    if (!tightens_) return;
    if (noting_ > 0 && --noting_ == 0) {
      if (relaxation.tighten()) scale_ = 1, stuck_ = 0;
      rounds_ = 0;
      return;
    }
    if (noting_ > 0 || ++rounds_ < kPatience) return;
    const double gap = std::min(unseen, dual) - lower;
    if (last_ - gap < kSlow * gap) noting_ = kNoting;
    last_ = gap;
    rounds_ = 0;
  }

 private:
  static constexpr Index kPatience = 20;  // rounds without a better bound, or over which the gap is looked at
  static constexpr Index kNoting = 10;    // rounds whose mistakes are noted before words are divided
  static constexpr double kSlow = 0.1;    // a gap that shrinks by less has converged

  bool tightens_;
  double scale_ = 1, last_ = std::numeric_limits<double>::infinity();
  Index stuck_ = 0, rounds_ = 0, noting_ = 0;
};

}  // namespace

ForestAnswer search_leaves(const ForestProblem& problem, const ForestOptions& options) {
  if (problem.model->automaton().order > 3)
    throw std::invalid_argument(options.method + " knows models of at most three words; use coarse-to-fine");
  if (derives_nothing(problem.forest))
    throw std::invalid_argument(options.method + " needs forests in which everything derives words; use optimal-beam");
  ForestAnswer answer;
  const Stopwatch watch;
  ForestIncumbents found(options);
  find_incumbents(problem, options, found, answer);
  const ForestBounds bounds = bound_forest(problem);
  double unseen = bounds.inside[problem.forest.goal] + bounds.outside[problem.forest.goal];
  Schedule schedule(options.method == "tightening");
  NeighbourScores scores(problem);
  WordPartition partition(scores.openings(), problem.model->automaton().order > 2 ? 2 : 1);
  auto relaxation = std::make_unique<LeafRelaxation>(problem, scores, partition, options,
                                                     SearchLimits{watch, options.seconds, options.items});
  while (!found.are_proven(unseen) && answer.beams < options.rounds && !answer.timed_out) {
    const double dual = relaxation->solve(found);
    ++answer.beams;
    const double before = std::exchange(unseen, std::min(unseen, dual));
    if (relaxation->has_stopped() || found.are_proven(unseen)) break;
    const double norm = relaxation->find_slopes(schedule.notes_words());
    if (norm == 0) break;
    schedule.look(dual, before, found.lower(), *relaxation);
    relaxation->step(schedule.scale() * (dual - std::max(found.lower(), dual - 100)) / norm);
    if (options.prune)
      if (std::unique_ptr<LeafRelaxation> smaller = relaxation->prune(found.threshold()))
        relaxation = std::move(smaller);
    answer.timed_out = watch.elapsed() > options.seconds;
  }
  answer.timed_out = answer.timed_out || (relaxation->has_stopped() && !found.are_proven(unseen));
  answer.parts = partition.parts();
  answer.relaxation_seconds = watch.elapsed();
  found.settle(unseen, answer);
  return answer;
}

}  // namespace certus::translate
