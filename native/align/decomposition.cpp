#include "align/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "align/reduction.hpp"
#include "base/interrupt.hpp"

namespace certus::align {
namespace {

class Decomposition {
 public:
  explicit Decomposition(const Agreed& problem)
      : problem_(problem),
        sources_(problem.side[0].words),
        targets_(problem.side[1].words),
        multipliers_(sources_ * targets_) {
    for (auto& cells : cells_) cells.resize(sources_ * targets_);
  }

  // Finds the best path of a side and its copy of the links; returns its value.
  double maximize(int s) {
    const Side& side = problem_.side[s];
    scores_.resize(side.words * side.values);
    for (Index word = 0; word < side.words; ++word)
      for (Index value = 0; value < side.values; ++value)
        scores_[word * side.values + value] =
            side.choice[word * side.values + value] + (value ? measure_links(s, word, value) : 0);
    const double best = find_path(side, path_.of[s]);
    std::fill(cells_[s].begin(), cells_[s].end(), 0);
    if (best == kNever<double>) return best;
    for (Index word = 0; word < side.words; ++word) {
      const Index value = path_.of[s][word];
      for (Index near = std::max<Index>(1, value - 1); value > 0 && near < std::min(side.values, value + 2); ++near)
        cells_[s][at(s, word, near)] = near == value || problem_.prices.adjacent + multiplier(s, word, near) > 0;
    }
    return best;
  }

  bool agrees() const { return cells_[0] == cells_[1]; }

  void step(double rate) {
    for (std::size_t k = 0; k < multipliers_.size(); ++k) {
      multipliers_[k] += rate * (cells_[1][k] - cells_[0][k]);
      largest_ = std::max(largest_, std::abs(multipliers_[k]));
    }
  }

  // Of sums of multipliers, which may be larger than scores: steps do not depend on these.
  double rounding() const {
    return std::numeric_limits<double>::epsilon() * static_cast<double>(sources_ + targets_) * largest_;
  }

  const Choices& paths() const { return path_; }
  std::vector<std::uint8_t> cells(int s) const { return cells_[s]; }

 private:
  Index at(int s, Index word, Index value) const {
    return s == 0 ? word * targets_ + value - 1 : (value - 1) * targets_ + word;
  }
  double multiplier(int s, Index word, Index value) const {
    const double u = multipliers_[at(s, word, value)];
    return s == 0 ? u : -u;
  }
  double measure_links(int s, Index word, Index value) const {
    double sum = multiplier(s, word, value);
    for (const Index near : {value - 1, value + 1})
      if (near >= 1 && near < problem_.side[s].values)
        sum += std::max(0.0, problem_.prices.adjacent + multiplier(s, word, near));
    return sum;
  }

  double find_path(const Side& side, std::vector<Index>& path) {
    const Index values = side.values;
    reached_.assign(values, kNever<double>);
    reached_[0] = 0;
    from_.assign(side.words * values, 0);
    for (Index word = 0; word < side.words; ++word) {
      heed_(values * values);
      next_.assign(values, kNever<double>);
      for (Index from = 0; from < values; ++from)
        for (Index to = 0; to < values; ++to) {
          const double score = reached_[from] + (side.step ? side.step[from * values + to] : 0);
          if (score <= next_[to]) continue;
          next_[to] = score;
          from_[word * values + to] = from;
        }
      for (Index to = 0; to < values; ++to) next_[to] += scores_[word * values + to];
      std::swap(reached_, next_);
    }
    Index last = std::max_element(reached_.begin(), reached_.end()) - reached_.begin();
    const double best = reached_[last];
    path.assign(side.words, 0);
    for (Index word = side.words; word-- > 0; last = from_[word * values + last]) path[word] = last;
    return best;
  }

  const Agreed& problem_;
  Index sources_, targets_;
  std::vector<double> multipliers_;  // [sources][targets]
  double largest_ = 0;               // of these so far, in size
  std::vector<std::uint8_t> cells_[2];
  Choices path_;
  std::vector<double> scores_, reached_, next_;
  std::vector<Index> from_;
  Heed heed_;
};

DecomposedAlignment decompose(const Agreed& problem, Index iterations, double seconds) {
  const Stopwatch stopwatch;
  Decomposition decomposition(problem);
  DecomposedAlignment best;
  best.bound = INFINITY;
  for (Index t = 1; t <= iterations; ++t) {
    const double value = decomposition.maximize(0) + decomposition.maximize(1);
    best.iterations = t;
    best.bound = std::min(best.bound, value + decomposition.rounding());
    if (value == kNever<double>) break;
    const bool agrees = decomposition.agrees();
    if (agrees) {
      best.source = decomposition.paths().of[0];
      best.target = decomposition.paths().of[1];
      best.score = score_choices(problem, decomposition.paths());
      best.bound = std::max(best.bound, best.score + find_allowance(problem, measure_scale(problem)));
    }
    best.dual.push_back(best.bound);
    best.primal.push_back(best.score);
    if (agrees || stopwatch.elapsed() > seconds) break;
    decomposition.step(1 / static_cast<double>(t));
  }
  best.backward = decomposition.cells(0);
  best.forward = decomposition.cells(1);
  return best;
}

}  // namespace

void DecomposedAlignment::go_on(DecomposedAlignment later) {
  backward = std::move(later.backward);
  forward = std::move(later.forward);
  Alignment::go_on(std::move(later));
}

DecomposedAlignment align_decomposed(const Agreed& problem, Index iterations, double seconds) {
  return solve_at_scale(problem, seconds,
                        [&](const Agreed& reduced, double left) { return decompose(reduced, iterations, left); });
}

}  // namespace certus::align
