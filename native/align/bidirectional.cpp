#include "align/bidirectional.hpp"

#include <algorithm>
#include <cmath>

#include "align/dual.hpp"
#include "align/greedy.hpp"
#include "align/reduction.hpp"
#include "base/interrupt.hpp"
#include "base/stopwatch.hpp"

namespace certus::align {
namespace {

constexpr Index kGreedyEvery = 10;  // iterations (Chang et al. 2014, §8)
constexpr double kStalled = 0.02;   // of the gap: an ascent that closes less of it in kPatience iterations has stopped
constexpr Index kPatience = 8;

class Search {
 public:
  Search(const Agreed& problem, const Limits& limits, double seconds)
      : problem_(problem), limits_(limits), seconds_(seconds) {}

  Alignment run() {
    Dual root(problem_);
    slack_ = find_allowance(problem_, root.scale());
    double bound = solve(root, true);
    if (is_open(bound) && !is_late()) bound = branch(std::move(root), bound);
    found_.bound = std::max(bound, found_.score + slack_);
    return std::move(found_);
  }

 private:
  struct Node {
    Dual dual;
    double bound;
  };

  bool is_open(double bound) const { return bound > kNever<double> && bound > found_.score + slack_; }
  bool is_late() {
    heed_(1 << 14);
    return stopwatch_.elapsed() > seconds_;
  }

  void offer(const Choices& choices) {
    const double score = score_choices(problem_, choices);
    if (score <= found_.score) return;
    found_.score = score;
    found_.source = choices.of[0];
    found_.target = choices.of[1];
  }

  // Ascends until the bound meets the best score, or stops falling; returns the bound.
  double solve(Dual& dual, bool is_root) {
    double bound = INFINITY, marked = INFINITY;
    for (Index n = 0; n < limits_.iterations; ++n) {
      bound = std::min(bound, dual.ascend());
      ++found_.iterations;
      if (bound == kNever<double>) return bound;
      const Choices paths{{dual.path(0), dual.path(1)}};
      offer(paths);
      const bool is_greedy = n % kGreedyEvery == 0 && is_open(bound);
      if (is_greedy) offer(intersect(paths));
      if (found_.score > kNever<double>) found_.pruned += dual.prune(found_.score, slack_);
      if (is_greedy)  // tries only what pruning has left
        offer(improve_greedily(problem_, intersect(paths), dual, seconds_ - stopwatch_.elapsed()));
      if (is_root) {
        found_.dual.push_back(bound);
        found_.primal.push_back(found_.score);
      }
      if (!is_open(bound) || is_late()) return bound;
      if (n % kPatience == kPatience - 1) {
        const double gap = found_.score > kNever<double> ? marked - found_.score : dual.scale();
        if (marked - bound < kStalled * gap) return bound;
        marked = bound;
      }
    }
    return bound;
  }

  // Where to branch: the choice of a chain's best path that the other chain contradicts most, or else the closest call.
  struct Fork {
    int side = 0;
    Index word = -1, value = 0;
  };
  Fork choose_fork(const Dual& dual) const {
    Fork fork;
    double best = kNever<double>;
    for (int s = 0; s < 2; ++s) {
      const Side& side = problem_.side[s];
      for (Index word = 0; word < side.words; ++word) {
        const Index value = dual.path(s)[word];
        double second = kNever<double>;
        for (Index other = 0; other < side.values; ++other)
          if (other != value && dual.is_allowed(s, word, other))
            second = std::max(second, dual.loss(s)[word * side.values + other]);
        if (second == kNever<double>) continue;
        const bool contradicted = value > 0 && dual.path(1 - s)[value - 1] != word + 1;
        const double urgency = contradicted ? second : second - dual.scale();
        if (urgency <= best) continue;
        best = urgency;
        fork = {s, word, value};
      }
    }
    return fork;
  }

  // Depth first; returns the largest bound of what is left open.
  double branch(Dual root, double bound) {
    std::vector<Node> open;
    open.push_back({std::move(root), bound});
    double left = kNever<double>;
    while (!open.empty()) {
      Node node = std::move(open.back());
      open.pop_back();
      if (!is_open(node.bound)) continue;
      const Fork fork = choose_fork(node.dual);
      if (fork.word < 0) {  // a single answer is left, and it was offered
        offer({{node.dual.path(0), node.dual.path(1)}});
        continue;
      }
      if (++found_.nodes > limits_.nodes || is_late()) {
        left = std::max(left, node.bound);
        for (const Node& other : open) left = std::max(left, other.bound);
        return left;
      }
      Dual without = node.dual;
      without.forbid(fork.side, fork.word, fork.value);
      for (Index value = 0; value < problem_.side[fork.side].values; ++value)
        if (value != fork.value) node.dual.forbid(fork.side, fork.word, value);
      for (Dual* child : {&without, &node.dual}) {
        const double child_bound = std::min(node.bound, solve(*child, false));
        if (is_open(child_bound)) open.push_back({std::move(*child), child_bound});
      }
    }
    return left;
  }

  const Agreed& problem_;
  const Limits& limits_;
  const double seconds_;
  Alignment found_;
  double slack_ = 0;  // a bound this close to a score proves it
  Heed heed_;
  Stopwatch stopwatch_;
};

}  // namespace

void Alignment::go_on(Alignment later) {
  if (later.score >= score) {
    score = later.score;
    source = std::move(later.source);
    target = std::move(later.target);
  }
  bound = std::min(bound, later.bound);
  iterations += later.iterations;
  nodes += later.nodes;
  pruned += later.pruned;
  dual.insert(dual.end(), later.dual.begin(), later.dual.end());
  primal.insert(primal.end(), later.primal.begin(), later.primal.end());
}

Alignment align_both(const Agreed& problem, const Limits& limits) {
  return solve_at_scale(problem, limits.seconds,
                        [&](const Agreed& reduced, double seconds) { return Search(reduced, limits, seconds).run(); });
}

}  // namespace certus::align
