#include "relax/dual.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {
namespace {

constexpr int kGridBits = 36;      // below the magnitude of the scores that multipliers keep
constexpr double kMargin = 1e-12;  // of the magnitudes: rounding decides nothing

}  // namespace

Dual::Dual(Problem& problem)
    : problem_(problem),
      multiplier_(problem.copies(), 0.0),
      fixed_(problem.variables(), kFree),
      on_(problem.variables(), 0),
      used_(problem.parts()),
      score_(problem.parts(), 0.0),
      value_(problem.parts(), 0.0),
      dirty_(problem.parts(), 1),
      is_open_(problem.parts(), 1),
      touched_(problem.parts(), 0),
      on_loss_(problem.variables()),
      off_loss_(problem.variables()) {
  Index widest = 0;
  for (Index p = 0; p < problem.parts(); ++p) widest = std::max(widest, problem.part(p).cells());
  with_.resize(widest);
  without_.resize(widest);
  find_open();
}

bool Dual::start() {
  for (Index p = 0; p < problem_.parts(); ++p) adjust_part(p);
  if (!evaluate()) return false;
  int exponent;
  const double size = magnitude();
  std::frexp(size > 0 ? size : 1.0, &exponent);
  rounder_ = std::ldexp(1.5, exponent - kGridBits + 52);
  largest_ = std::ldexp(1.0, exponent);
  worth_ = measure_worth();
  for (Index p = 0; p < problem_.parts(); ++p) queue_.push_back(p), touched_[p] = 1;
  return true;
}

void Dual::adjust_part(Index p) {
  const std::uint8_t dirty = dirty_[p];
  for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) adjust(copy);
  dirty_[p] = dirty;
}

void Dual::release(Index p) {
  for (const Index c : used_[p]) --on_[problem_.variable(problem_.begin(p) + c)];
  used_[p].clear();
}

bool Dual::evaluate() {
  for (Index p = 0; p < problem_.parts(); ++p) {
    if (!dirty_[p]) continue;
    release(p);
    const double score = problem_.part(p).maximize(used_[p]);
    if (score == kNever<double>) {
      used_[p].clear();
      return false;
    }
    double value = score;
    for (const Index c : used_[p]) {
      const Index copy = problem_.begin(p) + c;
      const Index v = problem_.variable(copy);
      ++on_[v];
      if (is_free(v)) value += multiplier_[copy];
    }
    score_[p] = score;
    value_[p] = value;
    dirty_[p] = 0;
  }
  return true;
}

double Dual::bound() const {
  double sum = 0;
  for (const double value : value_) sum += value;
  return sum;
}

double Dual::magnitude() const {
  double sum = 0;
  for (const double value : value_) sum += std::abs(value);
  return sum;
}

bool Dual::agree() const {
  for (Index v = 0; v < problem_.variables(); ++v)
    if (split(v)) return false;
  return true;
}

void Dual::adjust(Index copy) {
  const Index p = problem_.owner(copy), v = problem_.variable(copy);
  const Index cell = copy - problem_.begin(p);
  problem_.part(p).adjust(cell, is_free(v) ? multiplier_[copy] : fixed_[v] ? 0 : kNever<double>);
  problem_.part(p).require(cell, fixed_[v] == 1);
  dirty_[p] = 1;
}

void Dual::set_multiplier(Index copy, double u) {
  if (u == multiplier_[copy]) return;
  multiplier_[copy] = u;
  adjust(copy);
}

void Dual::balance() {
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!is_free(v) || problem_.count(v) == 0) continue;
    const Index* first = problem_.first_copy(v);
    double rest = 0;
    for (const Index* other = first + 1; other != problem_.last_copy(v); ++other) {
      set_multiplier(*other, round(multiplier_[*other]));
      rest += multiplier_[*other];
    }
    set_multiplier(*first, -rest);
  }
}

double Dual::measure_worth() {
  double sum = 0;
  Index count = 0;
  for (const Index p : open_) {
    if (!max_marginals(p)) continue;
    for (Index c = 0; c < problem_.part(p).cells(); ++c) {
      const double worth = std::abs(with_[c] - without_[c]);
      if (std::isfinite(worth) && is_free(problem_.variable(problem_.begin(p) + c))) sum += worth, ++count;
    }
  }
  return count ? sum / static_cast<double>(count) : largest_;
}

bool Dual::fix(Index v, bool on) {
  if (!is_free(v)) return fixed_[v] == on;
  fixed_[v] = on;
  bool possible = true;
  for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) {
    adjust(*copy);
    const Index p = problem_.owner(*copy), begin = problem_.begin(p);
    if (!touched_[p]) touched_[p] = 1, queue_.push_back(p);
    const CellGroup& group = problem_.part(p).group(*copy - begin);
    if (!on || !group.exactly_one) continue;
    for (Index other = begin + group.begin; other < begin + group.end; ++other)
      if (other != *copy) possible = fix(problem_.variable(other), false) && possible;
  }
  return possible;
}

bool Dual::propagate() {
  bool possible = true;
  while (!queue_.empty()) {
    const Index p = queue_.back();
    queue_.pop_back();
    touched_[p] = 0;
    if (possible) possible = propagate(p);
  }
  return possible;
}

bool Dual::propagate(Index p) {
  const Index begin = problem_.begin(p), end = problem_.begin(p + 1);
  bool any = false;
  for (Index copy = begin; copy < end && !any; ++copy) any = is_free(problem_.variable(copy));
  if (!any || !part(p).propagates() || !max_marginals(p)) return true;  // evaluate() finds out whether anything is left
  for (Index copy = begin; copy < end; ++copy) {
    const Index v = problem_.variable(copy);
    const bool on = with_[copy - begin] != kNever<double>, off = without_[copy - begin] != kNever<double>;
    if (!on && !off) return false;
    if (is_free(v) && !(on && off) && !fix(v, on)) return false;
  }
  return true;
}

bool Dual::fix_by_bounds(double score, Index* count) {
  std::fill(on_loss_.begin(), on_loss_.end(), 0.0);
  std::fill(off_loss_.begin(), off_loss_.end(), 0.0);
  for (const Index p : open_) {
    if (!max_marginals(p)) continue;
    for (Index c = 0; c < problem_.part(p).cells(); ++c) {
      const Index v = problem_.variable(problem_.begin(p) + c);
      on_loss_[v] += std::min(0.0, with_[c] - value_[p]);
      off_loss_[v] += std::min(0.0, without_[c] - value_[p]);
    }
  }
  const double room = score - bound() - kMargin * magnitude();
  *count = 0;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!is_free(v)) continue;
    const bool off = on_loss_[v] <= room, on = off_loss_[v] <= room;
    if (off && on) return false;
    if (off || on) {
      ++*count;
      if (!fix(v, on)) return false;
    }
  }
  return propagate();
}

void Dual::find_open() {
  open_.clear();
  for (Index p = 0; p < problem_.parts(); ++p) {
    is_open_[p] = 0;
    for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1) && !is_open_[p]; ++copy)
      is_open_[p] = is_free(problem_.variable(copy));
    if (is_open_[p]) open_.push_back(p);
  }
}

Dual::Snapshot Dual::save() const {
  Snapshot snapshot{fixed_, {}, open_};
  for (const Index p : open_)
    snapshot.multipliers.insert(snapshot.multipliers.end(), multiplier_.begin() + problem_.begin(p),
                                multiplier_.begin() + problem_.begin(p + 1));
  return snapshot;
}

void Dual::restore(const Snapshot& snapshot) {
  for (const Index p : queue_) touched_[p] = 0;
  queue_.clear();
  const double* u = snapshot.multipliers.data();
  for (const Index p : snapshot.open)
    for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) set_multiplier(copy, *u++);
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (fixed_[v] == snapshot.fixed[v]) continue;
    fixed_[v] = snapshot.fixed[v];
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) adjust(*copy);
  }
  find_open();
}

}  // namespace certus::relax
