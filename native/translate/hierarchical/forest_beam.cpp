// Beams under bounds: for each node, the items that may become part of a derivation better than the best so far, most
// promising first. What a beam leaves out for lack of room is bounded; where that bound is not above the best
// derivation, it is proven. Until then, the beam grows (Rush et al. 2013, sections 3 and 5).
#include <optional>

#include "base/interrupt.hpp"
#include "translate/hierarchical/coarse_forest.hpp"
#include "translate/hierarchical/forest_bounds.hpp"
#include "translate/hierarchical/forest_items.hpp"

namespace certus::translate {
namespace {

struct PassOutcome {
  double dropped = kNever<double>;  // the best bound of what was left out for lack of room
  bool timed_out = false;
};

// One beam over a forest. Bounds that know what items begin and end with may be missing.
class ForestBeam {
 public:
  ForestBeam(const ForestProblem& problem, const ForestBounds& bounds, const CoarseForest* coarse,
             const ForestOptions& options, const Stopwatch& watch)
      : problem_(problem),
        bounds_(bounds),
        coarse_(coarse),
        options_(options),
        watch_(watch),
        lefts_(*problem.model, problem.weight),
        maker_(problem, lefts_),
        table_(options.k, options.distinct),
        chart_(problem.forest.nodes) {
    if (coarse) finder_.emplace(problem, coarse->scores, lefts_);
  }

  PassOutcome run(Index width, ForestIncumbents& found, ForestAnswer& answer) {
    threshold_ = found.threshold();
    const TargetForest& forest = problem_.forest;
    for (node_ = 0; node_ < forest.nodes && !outcome_.timed_out; ++node_) {
      if (finder_) finder_->look_at(coarse_->bounds.node(node_));
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
    choose(0, bounds_.edge[e] + bounds_.outside[node_]);
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
    Item item = maker_.make(chart_, node_, edge_, parts_);
    bound(item);
    if (item.whole > kNever<double> && item.whole >= threshold_) table_.add(item, parts_);
    heed_(200);
    if (++joined_ % 1024 == 0 && watch_.elapsed() > options_.seconds) outcome_.timed_out = true;
  }
  // Sets the best derivation that an item may become part of.
  void bound(Item& item) {
    item.whole = item.value + bounds_.outside[node_];
    if (finder_)
      item.whole = std::min(
          item.whole, item.piece.score + finder_->find(item.piece.left, coarse_->scores.shorten(item.piece.right)));
  }

  const ForestProblem& problem_;
  const ForestBounds& bounds_;
  const CoarseForest* coarse_;
  const ForestOptions& options_;
  const Stopwatch& watch_;
  LeftTable lefts_;
  ItemMaker maker_;
  ItemTable table_;
  ItemChart chart_;
  std::optional<EndFinder> finder_;
  double threshold_ = kNever<double>;
  Index node_ = 0, edge_ = 0, joined_ = 0;
  std::vector<Index> tails_;
  std::vector<double> rest_;
  std::vector<ItemId> parts_;
  PassOutcome outcome_;
  Heed heed_;
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
  answer.timed_out = outcome.timed_out;
  const Index goal = problem.forest.goal;
  found.settle(outcome.timed_out ? bounds.inside[goal] + bounds.outside[goal] : kNever<double>, answer);
  return answer;
}

ForestAnswer search_forest_beam(const ForestProblem& problem, const ForestOptions& options) {
  ForestAnswer answer;
  const Stopwatch watch;
  ForestIncumbents found(options);
  find_incumbents(problem, options, found, answer);
  const ForestBounds bounds = bound_forest(problem);
  const bool has_words = !derives_nothing(problem.forest);
  double unseen = bounds.inside[problem.forest.goal] + bounds.outside[problem.forest.goal];
  for (Index width = std::max(Index{1000}, 4 * options.k); unseen > kNever<double>; width *= 8) {
    const double before = watch.elapsed();
    std::optional<CoarseForest> coarse;
    if (has_words) {
      coarse.emplace(problem, found.threshold());
      unseen = std::min(unseen, coarse->find_bound(found.threshold()));
    }
    answer.relaxation_seconds += watch.elapsed() - before;
    const PassOutcome outcome =
        ForestBeam(problem, bounds, coarse ? &*coarse : nullptr, options, watch).run(width, found, answer);
    ++answer.beams;
    answer.timed_out = outcome.timed_out;
    if (!outcome.timed_out) unseen = std::min(unseen, outcome.dropped);
    if (unseen <= found.threshold() || outcome.timed_out) break;
  }
  answer.beam_seconds = watch.elapsed() - answer.relaxation_seconds;
  found.settle(unseen, answer);
  return answer;
}

ForestAnswer search_forest(const ForestProblem& problem, const ForestOptions& options) {
  if (options.method == "exhaustive") return search_exhaustively(problem, options);
  if (options.method == "cube") return search_cubes(problem, options);
  if (options.method == "lagrangian" || options.method == "tightening") return search_leaves(problem, options);
  // Hooks keep one derivation of each item, and need text to hang on.
  if (options.method == "optimal-beam" || options.k > 1 || derives_nothing(problem.forest))
    return search_forest_beam(problem, options);
  return search_coarse_to_fine(problem, options);
}

}  // namespace certus::translate
