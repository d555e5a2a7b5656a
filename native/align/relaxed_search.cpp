#include "align/relaxed_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "align/constrained_viterbi.hpp"
#include "align/greedy.hpp"
#include "align/reduction.hpp"
#include "base/stopwatch.hpp"

namespace certus::align {
namespace {

constexpr double kSmaller = 0.9;  // of the gap: what pruning waits for
constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;

class RelaxedSearch {
 public:
  RelaxedSearch(const Agreed& problem, const RelaxedSettings& settings, double seconds)
      : problem_(problem),
        settings_(settings),
        seconds_(seconds),
        lattice_(problem),
        constrained_(lattice_, settings.hypotheses),
        violation_((lattice_.rows() + 1) * (lattice_.columns() + 1)),
        violated_(violation_.size()) {}

  RelaxedAlignment run() {
    if (settings_.from_chain) lattice_.start_from_chain();
    for (Index n = 0; n < settings_.iterations + settings_.constrained_iterations; ++n)
      if (!iterate(n)) break;
    found_.bound = std::max(bound_, found_.score + lattice_.slack());
    found_.constraints = constrained_.size();
    return std::move(found_);
  }

 private:
  // What is not above the best score by more than that is in no better answer.
  double prunable() const { return lattice_.slack() - rounding_; }
  bool is_open() const { return bound_ > found_.score + lattice_.slack(); }
  bool is_late() {
    heed_(1 << 14);
    return stopwatch_.elapsed() > seconds_;
  }

  // One step; false where the search ends.
  bool iterate(Index n) {
    const Index after = n - settings_.iterations;  // into the part with constraints
    if (after >= 0 && after % settings_.constraints_every == 0) add_constraints();
    lattice_.run_forward();
    if (after < 0) {
      lattice_.find_answer(answer_);
    } else {
      lattice_.run_backward();
      if (!constrained_.maximize(found_.score + prunable(), answer_)) return false;
    }
    ++found_.iterations;
    if (after == 0) rises_ = 0;  // steps are long again, since constraints move what is best
    answer_.value += rounding_;
    if (answer_.value >= last_) ++rises_;
    last_ = answer_.value;
    bound_ = std::min(bound_, std::max(answer_.value, found_.score));
    measure_violations();
    if (answer_.value > kNever<double>) look_for_answers(n % settings_.greedy_every == 0);
    found_.dual.push_back(bound_);
    found_.primal.push_back(found_.score);
    found_.intersection.push_back(intersected_);
    if (is_open()) prune(after >= 0);
    found_.space.push_back(lattice_.space());
    if (!is_open() || is_late()) return false;
    const double step = settings_.step * std::pow(settings_.rate, static_cast<double>(rises_));
    double most = 0;
    for (Index row = 0; row <= lattice_.rows(); ++row)
      for (Index column = 0; column < lattice_.columns(); ++column) {
        double& multiplier = lattice_.multiplier(row, column);
        multiplier += step * static_cast<double>(violation_[at(row, column)]);
        most = std::max(most, std::abs(multiplier));
      }
    rounding_ = kEpsilon * static_cast<double>(lattice_.columns()) * most;
    return true;
  }

  Index at(Index row, Index column) const { return row * (lattice_.columns() + 1) + column; }

  // y(i, j) less the links that come from (i, j), for all relaxed constraints.
  void measure_violations() {
    std::fill(violation_.begin(), violation_.end(), 0);
    violation_[at(0, 0)] = 1;
    for (const RelaxedLink& link : answer_.links) {
      ++violation_[at(link.row, link.column)];
      --violation_[at(link.before, link.column - 1)];
    }
    for (Index row = 0; row <= lattice_.rows(); ++row) violation_[at(row, lattice_.columns())] = 0;
    for (std::size_t k = 0; k < violation_.size(); ++k) violated_[k] += std::abs(violation_[k]);
  }

  void add_constraints() {
    std::vector<Index> order(violated_.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return violated_[a] > violated_[b]; });
    for (Index k = 0, added = 0; k < static_cast<Index>(order.size()) && added < settings_.constraints; ++k) {
      const Index row = order[k] / (lattice_.columns() + 1), column = order[k] % (lattice_.columns() + 1);
      if (violated_[order[k]] == 0) break;
      if (!constrained_.is_active(row, column) && constrained_.add(row, column)) ++added;
    }
    std::fill(violated_.begin(), violated_.end(), 0);
  }

  void offer(const Choices& choices) {
    const double score = score_choices(problem_, choices);
    if (score <= found_.score) return;
    found_.score = score;
    found_.source = choices.of[0];
    found_.target = choices.of[1];
  }

  // The answer itself if its links form a chain; else what both directions have of it, and what grows from there.
  void look_for_answers(bool is_greedy) {
    Choices choices{{answer_.source, std::vector<Index>(lattice_.columns(), 0)}};
    if (std::all_of(violation_.begin(), violation_.end(), [](Index v) { return v == 0; })) {
      for (const RelaxedLink& link : answer_.links) choices.of[1][link.column - 1] = link.row;
      offer(choices);
    }
    std::fill(choices.of[1].begin(), choices.of[1].end(), 0);
    for (const RelaxedLink& link : answer_.links)
      if (link.row > 0 && answer_.source[link.row - 1] == link.column) choices.of[1][link.column - 1] = link.row;
    choices = intersect(choices);
    intersected_ = std::max(intersected_, score_choices(problem_, choices));
    if (is_greedy && is_open()) offer(grow_greedily(problem_, choices, seconds_ - stopwatch_.elapsed()));
  }

  void prune(bool is_backward_done) {
    if (found_.score == kNever<double> || answer_.value == kNever<double>) return;
    const double gap = answer_.value - found_.score;
    if (gap > kSmaller * pruned_gap_) return;
    pruned_gap_ = gap;
    if (!is_backward_done) lattice_.run_backward();
    found_.pruned += lattice_.prune(found_.score, prunable());
  }

  const Agreed& problem_;
  const RelaxedSettings& settings_;
  const double seconds_;
  RelaxedLattice lattice_;
  ConstrainedViterbi constrained_;
  RelaxedAnswer answer_;
  RelaxedAlignment found_;
  std::vector<Index> violation_, violated_;  // [rows + 1][columns + 1]: now, and since constraints were added
  double bound_ = INFINITY, last_ = INFINITY, pruned_gap_ = INFINITY, intersected_ = kNever<double>;
  double rounding_ = 0;  // of sums of multipliers, which may be larger than scores: steps do not depend on these
  Index rises_ = 0;
  Heed heed_;
  Stopwatch stopwatch_;
};

}  // namespace

void RelaxedAlignment::go_on(RelaxedAlignment later) {
  intersection.insert(intersection.end(), later.intersection.begin(), later.intersection.end());
  space.insert(space.end(), later.space.begin(), later.space.end());
  constraints += later.constraints;
  Alignment::go_on(std::move(later));
}

RelaxedAlignment align_relaxed(const Agreed& problem, const RelaxedSettings& settings) {
  return solve_at_scale(problem, settings.seconds, [&](const Agreed& reduced, double seconds) {
    return RelaxedSearch(reduced, settings, seconds).run();
  });
}

}  // namespace certus::align
