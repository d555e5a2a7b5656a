// Beams under bounds: for each node, the items that may become part of a derivation better than the best so far, most
// promising first. What a beam leaves out for lack of room is bounded; where that bound is not above the best
// derivation, it is proven. Until then, the beam grows (Rush et al. 2013, sections 3 and 5).
#include <optional>

#include "base/interrupt.hpp"
#include "translate/hierarchical/boundary_bounds.hpp"
#include "translate/hierarchical/forest_items.hpp"

namespace certus::translate {
namespace {

struct PassOutcome {
  double dropped = kNever<double>;  // the best bound of what was left out for lack of room
  bool timed_out = false;
};

// One beam over a forest, under bounds that know the words at the ends of nodes, or under those that do not.
class ForestBeam {
 public:
  ForestBeam(const ForestProblem& problem, const ForestBounds& bounds, const BoundaryBounds* ends,
             const ForestOptions& options, const Stopwatch& watch)
      : problem_(problem),
        bounds_(bounds),
        ends_(ends),
        options_(options),
        watch_(watch),
        lefts_(*problem.model, problem.weight),
        maker_(problem, lefts_),
        table_(options.k, options.distinct),
        chart_(problem.forest.nodes) {}

  PassOutcome run(Index width, ForestIncumbents& found, ForestAnswer& answer) {
    threshold_ = found.threshold();
    const TargetForest& forest = problem_.forest;
    for (node_ = 0; node_ < forest.nodes && !outcome_.timed_out; ++node_) {
      outside_ = ends_ ? ends_->outside(node_) : bounds_.outside[node_];
      for (Index e = forest.edge_first[node_]; e < forest.edge_first[node_ + 1] && !outcome_.timed_out; ++e) expand(e);
      outcome_.dropped = std::max(outcome_.dropped, chart_.take(table_, width));
      if (static_cast<Index>(chart_.items.size()) > options_.items) outcome_.timed_out = true;
    }
    answer.items += static_cast<Index>(chart_.items.size());
    answer.joined += joined_;
    if (!outcome_.timed_out) found.add_goal(problem_, chart_, maker_);
    return outcome_;
  }

 private:
  void expand(Index e) {
    tails_.clear();
    for (const Symbol symbol : problem_.forest.list_symbols(e)) {
      if (!is_node(symbol)) continue;
      if (chart_.list(~symbol).empty()) return;
      tails_.push_back(~symbol);
    }
    rest_.resize(tails_.size() + 1);
    rest_.back() = 0;
    for (std::size_t i = tails_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + chart_.list(tails_[i]).front().value;
    parts_.resize(tails_.size());
    edge_ = e;
    choose(0, (ends_ ? ends_->edge(e) : bounds_.edge[e]) + outside_);
  }
  // Chooses items for the nodes from `depth` on; what is chosen, and all that is around it, is worth at most `value`.
  void choose(std::size_t depth, double value) {
    if (!(value + rest_[depth] >= threshold_) || outcome_.timed_out) return;
    if (depth == tails_.size()) {
      make();
      return;
    }
    ItemId id = static_cast<ItemId>(chart_.first[tails_[depth]]);
    for (const Item& item : chart_.list(tails_[depth])) {
      if (!(value + item.value + rest_[depth + 1] >= threshold_)) break;
      parts_[depth] = id++;
      choose(depth + 1, value + item.value);
    }
  }
  void make() {
    Item item = maker_.make(chart_, edge_, parts_);
    bound(item);
    if (item.whole > kNever<double> && item.whole >= threshold_) table_.add(item, parts_);
    heed_(200);
    if (++joined_ % 1024 == 0 && watch_.elapsed() > options_.seconds) outcome_.timed_out = true;
  }
  // Sets what the item is worth to those that use it, and the best derivation that it may become part of.
  void bound(Item& item) {
    if (!ends_) {
      item.whole = item.value + outside_;
      return;
    }
    const BoundaryBounds::Ends ends = ends_->find(node_, item.first, item.last);
    item.value = item.piece.score + lefts_.rest(item.piece.left) + ends.multipliers;
    if (lefts_.words(item.piece.left).empty())  // then the first word is in its score, which others add to it
      item.value -= problem_.weigh(problem_.model->automaton().advance(kEmpty, item.first).score);
    item.whole = item.value + ends.outside;
  }

  const ForestProblem& problem_;
  const ForestBounds& bounds_;
  const BoundaryBounds* ends_;
  const ForestOptions& options_;
  const Stopwatch& watch_;
  LeftTable lefts_;
  ItemMaker maker_;
  ItemTable table_;
  ItemChart chart_;
  double threshold_ = kNever<double>, outside_ = 0;
  Index node_ = 0, edge_ = 0, joined_ = 0;
  std::vector<Index> tails_;
  std::vector<double> rest_;
  std::vector<ItemId> parts_;
  PassOutcome outcome_;
  Heed heed_;
};

// A forest that shrinks: what cannot be part of a derivation that is good enough is dropped, which makes bounds
// tighter.
class ShrinkingForest {
 public:
  ShrinkingForest(const ForestProblem& problem, double threshold)
      : problem_{{}, problem.model, problem.weight}, has_words_(!derives_nothing(problem.forest)) {
    const ForestBounds bounds = bound_forest(problem);
    unseen_ = bounds.inside[problem.forest.goal] + bounds.outside[problem.forest.goal];
    problem_.forest = prune_forest(problem.forest, bounds, threshold);
  }

  // Drops edges, and finds bounds for what is left.
  void shrink(double threshold) {
    for (int round = 0; round < kRounds; ++round) {
      bounds_ = bound_forest(problem_);
      const Index goal = problem_.forest.goal;
      raise_known(bounds_.inside[goal] + bounds_.outside[goal], threshold);
      if (!has_words_ || bounds_.inside[goal] == kNever<double>) return;
      ends_.emplace(problem_);
      raise_known(ends_->bound(), threshold);
      const Index before = problem_.forest.edges();
      std::vector<char> keep(before);
      Index kept = 0;
      for (Index e = 0; e < before; ++e) kept += keep[e] = ends_->find_best(e) >= threshold;
      if (round + 1 == kRounds || 10 * kept > 9 * before) return;
      ends_.reset();
      problem_.forest = filter_forest(problem_.forest, keep);
      problem_.forest = prune_forest(problem_.forest, bound_forest(problem_), kNever<double>);
    }
  }

  const ForestProblem& problem() const { return problem_; }
  const ForestBounds& bounds() const { return bounds_; }
  const BoundaryBounds* ends() const { return ends_ ? &*ends_ : nullptr; }
  double unseen() const { return unseen_; }

 private:
  static constexpr int kRounds = 4;

  // What was dropped is below the threshold; what is left is below its bound.
  void raise_known(double bound, double threshold) { unseen_ = std::min(unseen_, std::max(bound, threshold)); }

  ForestProblem problem_;
  bool has_words_;
  ForestBounds bounds_;
  std::optional<BoundaryBounds> ends_;
  double unseen_;
};

}  // namespace

ForestAnswer search_exhaustively(const ForestProblem& problem, const ForestOptions& options) {
  ForestAnswer answer;
  const Stopwatch watch;
  ForestIncumbents found(options);
  const ForestBounds bounds = bound_forest(problem);
  const PassOutcome outcome =
      ForestBeam(problem, bounds, nullptr, options, watch).run(std::numeric_limits<Index>::max(), found, answer);
  answer.beam_seconds = watch.elapsed();
  answer.beams = 1;
  answer.kept_edges = problem.forest.edges();
  answer.timed_out = outcome.timed_out;
  const Index goal = problem.forest.goal;
  found.settle(outcome.timed_out ? bounds.inside[goal] + bounds.outside[goal] : kNever<double>, answer);
  return answer;
}

namespace {

constexpr Index kWideCubes = 1000;  // cells per node of the second look for a good answer

}  // namespace

ForestAnswer search_forest_beam(const ForestProblem& problem, const ForestOptions& options) {
  ForestAnswer answer;
  const Stopwatch watch;
  ForestIncumbents found(options);
  ForestOptions first = options;
  first.width = std::max(Index{30}, options.k);
  find_incumbents(problem, first, found, answer);
  answer.beam_seconds = watch.elapsed();
  ShrinkingForest forest(problem, found.threshold());
  double unseen = forest.unseen();
  for (Index width = std::max(Index{1000}, 4 * options.k); unseen > kNever<double>; width *= 8) {
    const double before = watch.elapsed();
    forest.shrink(found.threshold());
    answer.kept_edges = forest.problem().forest.edges();
    unseen = std::min(unseen, forest.unseen());
    answer.relaxation_seconds += watch.elapsed() - before;
    const PassOutcome outcome =
        ForestBeam(forest.problem(), forest.bounds(), forest.ends(), options, watch).run(width, found, answer);
    ++answer.beams;
    answer.beam_seconds = watch.elapsed() - answer.relaxation_seconds;
    answer.timed_out = outcome.timed_out;
    if (!outcome.timed_out) unseen = std::min(unseen, outcome.dropped);
    if (unseen <= found.threshold()) break;
    if (answer.beams == 1) {  // it is a hard one: look harder for a good answer, which also drops more
      first.width = std::max(kWideCubes, options.k);
      find_incumbents(problem, first, found, answer);
    }
    if (outcome.timed_out) break;
  }
  found.settle(unseen, answer);
  return answer;
}

ForestAnswer search_forest(const ForestProblem& problem, const ForestOptions& options) {
  if (options.method == "exhaustive") return search_exhaustively(problem, options);
  if (options.method == "cube") return search_cubes(problem, options);
  return search_forest_beam(problem, options);
}

}  // namespace certus::translate
