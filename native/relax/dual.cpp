#include "relax/dual.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {
namespace {

constexpr int kGridBits = 36;        // below the magnitude of the scores that multipliers keep
constexpr int kCoarseBits = 20;      // the same of the scores of cells, before that is known
constexpr double kMargin = 1e-12;    // of the magnitudes: rounding decides nothing
constexpr double kWhole = 1e-6;      // the same for whole numbers
constexpr double kRounding = 1e-11;  // the same of rounding that results are stated up to
constexpr double kEpsilon = 0x1p-52;

// What is won by `on` instead of `off`, within bounds where one of them is impossible.
double compare(double on, double off, double most) {
  if (on == kNever<double>) return -most;
  return off == kNever<double> ? most : std::clamp(on - off, -most, most);
}

// That one of its structures adds up.
Index count_terms(const Part& part) { return static_cast<Index>(part.groups().size()) + 4; }

}  // namespace

Dual::Dual(Problem& problem, bool whole)
    : problem_(problem),
      whole_(whole),
      multiplier_(problem.copies(), 0.0),
      fixed_(problem.variables(), kFree),
      active_(problem.variables(), 1),
      seen_(problem.variables(), 0),
      uses_(problem.copies(), 0),
      on_(problem.variables(), 0),
      used_(problem.parts()),
      structure_(problem.parts()),
      score_(problem.parts(), 0.0),
      value_(problem.parts(), 0.0),
      calls_(problem.parts(), 0),
      dirty_(problem.parts(), 0),
      is_open_(problem.parts(), 1),
      touched_(problem.parts(), 0),
      on_loss_(problem.variables()),
      off_loss_(problem.variables()),
      on_least_(problem.variables(), 0.0),
      off_least_(problem.variables(), 0.0) {
  for (Index v = 0; v < problem.variables(); ++v) active_[v] = !problem.is_reserve(v);
  Index widest = 0;
  for (Index p = 0; p < problem.parts(); ++p) widest = std::max(widest, problem.part(p).cells());
  with_.resize(widest);
  without_.resize(widest);
  find_open();
}

// Powers of two: multipliers that are multiples of a coarse grid are multiples of a finer one.
void Dual::set_grid(double size, int bits) {
  int exponent;
  std::frexp(size > 0 ? size : 1.0, &exponent);
  grid_ = std::ldexp(1.0, exponent - bits);
  rounder_ = std::ldexp(1.5, exponent - bits + 52);
  largest_ = std::ldexp(1.0, exponent);
}

void Dual::spread() {
  std::vector<double> worths(problem_.copies());
  double largest = 0;
  for (Index p = 0; p < problem_.parts(); ++p) {
    const Part& part = problem_.part(p);
    double* own = worths.data() + problem_.begin(p);
    for (const CellGroup& group : part.groups()) {
      double best = kNever<double>, second = kNever<double>;
      for (Index c = group.begin; c < group.end; ++c) {
        own[c] = problem_.weight(p) * part.cell_score(c);
        if (std::isfinite(own[c])) largest = std::max(largest, std::abs(own[c]));
        second = std::max(second, std::min(best, own[c]));
        best = std::max(best, own[c]);
      }
      const double middle = group.exactly_one && std::isfinite(second) ? (best + second) / 2 : 0;
      for (Index c = group.begin; c < group.end; ++c) own[c] -= middle;
    }
  }
  if (largest == 0 || largest > kLargest || largest < kSmallest) return;
  set_grid(largest, kCoarseBits);
  even_out(worths, 1.0);
}

bool Dual::even_out(const std::vector<double>& worths, double share) {
  bool moved = false;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!moves(v)) continue;
    const Index *first = problem_.first_copy(v), *last = problem_.last_copy(v);
    double mean = 0;
    for (const Index* copy = first; copy != last; ++copy) mean += worths[*copy];
    mean /= static_cast<double>(problem_.count(v));
    if (!std::isfinite(mean)) continue;
    double rest = 0;
    for (const Index* copy = first + 1; copy != last; ++copy) {
      const double u = round(multiplier_[*copy] + share * (mean - worths[*copy]));
      moved = moved || u != multiplier_[*copy];
      set_multiplier(*copy, u);
      rest += u;
    }
    set_multiplier(*first, -rest);
  }
  return moved;
}

bool Dual::start() {
  const double before = grid_;
  for (Index p = 0; p < problem_.parts(); ++p) {
    adjust_part(p);
    if (!dirty_[p]) dirty_[p] = 1, changed_.push_back(p);
  }
  if (!evaluate()) return false;
  const double size = magnitude();
  if (!(size <= kLargest) || (size > 0 && size < kSmallest)) throw TooLarge(size);
  set_grid(size, kGridBits);
  read_terms();
  if (before > 0 && before < grid_) {
    balance();
    evaluate();
  }
  for (Index p = 0; p < problem_.parts(); ++p) {
    problem_.part(p).set_scale(largest_ / problem_.weight(p));
    queue_.push_back(p);
    touched_[p] = 1;
  }
  return true;
}

double Dual::worth() {
  if (worth_ < 0) worth_ = measure_worth();
  return worth_;
}

void Dual::adjust_part(Index p) {
  for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) tell(copy);
}

void Dual::release(Index p) {
  for (const Index c : used_[p]) {
    const Index copy = problem_.begin(p) + c;
    --on_[problem_.variable(copy)];
    uses_[copy] = 0;
  }
  used_[p].clear();
}

double Dual::maximize(Index p, std::vector<Index>& used) {
  work_ += part(p).cells();
  return problem_.weight(p) * part(p).maximize(used);
}

bool Dual::evaluate() {
  ++evaluations_;
  std::sort(changed_.begin(), changed_.end());
  for (auto next = changed_.begin(); next != changed_.end(); ++next) {
    if (evaluate(*next)) continue;
    changed_.erase(changed_.begin(), next);
    return false;
  }
  changed_.clear();
  return true;
}

bool Dual::evaluate(Index p) {
  release(p);
  ++calls_[p];
  const double score = maximize(p, used_[p]);
  if (score == kNever<double>) {
    used_[p].clear();
    return false;
  }
  if (whole_ && score != std::nearbyint(score)) throw NotWhole(p);
  structure_[p] = part(p).structure();
  double value = score;
  for (const Index c : used_[p]) {
    const Index copy = problem_.begin(p) + c;
    const Index v = problem_.variable(copy);
    ++on_[v];
    uses_[copy] = 1;
    if (is_free(v)) value += multiplier_[copy];
  }
  score_[p] = score;
  value_[p] = value;
  dirty_[p] = 0;
  return true;
}

double Dual::bound() const {
  double sum = 0;
  for (const double value : value_) sum += value;
  return sum;
}

double Dual::magnitude() const {
  double sum = 0;
  for (Index p = 0; p < problem_.parts(); ++p) sum += std::abs(score_[p]) + std::abs(value_[p]);
  return sum;
}

void Dual::read_terms() {
  term_.resize(problem_.copies());
  rest_.resize(problem_.parts());
  scale_ = -kNever<double>;
  for (Index p = 0; p < problem_.parts(); ++p) {
    const Part& part = problem_.part(p);
    const double weight = problem_.weight(p);
    for (Index c = 0; c < part.cells(); ++c) term_[problem_.begin(p) + c] = weight * part.largest_term(c);
    rest_[p] = weight * part.largest_rest();
    scale_ = std::min(scale_, weight * part.smallest_score());
    most_terms_ = std::max(most_terms_, count_terms(part));
  }
  if (std::isinf(scale_)) scale_ = 0;  // all scores are 0
}

double Dual::measure_terms() const {
  double sum = 0;
  for (Index p = 0; p < problem_.parts(); ++p) {
    const Part& part = problem_.part(p);
    double own = rest_[p];
    for (const CellGroup& group : part.groups()) {
      double most = 0;
      for (Index copy = problem_.begin(p) + group.begin; copy < problem_.begin(p) + group.end; ++copy) {
        const std::int8_t fixed = fixed_[problem_.variable(copy)];
        if (fixed != 0) most = std::max(most, term_[copy] + (fixed == kFree ? std::abs(multiplier_[copy]) : 0.0));
      }
      own += most;
    }
    sum += own * static_cast<double>(count_terms(part));
  }
  return 2 * kEpsilon * sum;
}

double Dual::measure_bonuses() const {
  double sum = 0;
  for (Index p = 0; p < problem_.parts(); ++p) sum += problem_.weight(p) * problem_.part(p).bonus();
  return 4 * kEpsilon * sum;
}

double Dual::bonus_rounding(double size) const {
  const double rounding = measure_bonuses();
  return rounding > kRounding * std::max(size, scale_) ? rounding : 0.0;
}

double Dual::rounding(double size, double terms) const {
  const double sums = kEpsilon * static_cast<double>(problem_.parts() + most_terms_) * magnitude();
  const double rounding = terms + sums + (scale_ > 0 ? 0.0 : measure_bonuses());
  return rounding > kRounding * std::max(size, scale_) ? rounding : 0.0;
}

bool Dual::agree() const {
  for (Index p = 0; p < problem_.parts(); ++p)
    for (const Index c : used_[p])
      if (split(problem_.variable(problem_.begin(p) + c))) return false;
  return true;
}

void Dual::list_split(std::vector<Index>& variables) {
  variables.clear();
  for (Index p = 0; p < problem_.parts(); ++p)
    for (const Index c : used_[p]) {
      const Index v = problem_.variable(problem_.begin(p) + c);
      if (seen_[v] || !split(v) || !is_free(v)) continue;
      seen_[v] = 1;
      variables.push_back(v);
    }
  for (const Index v : variables) seen_[v] = 0;
}

bool Dual::max_marginals(Index p) {
  work_ += 2 * part(p).cells();
  if (!problem_.part(p).max_marginals(with_.data(), without_.data())) return false;
  const double weight = problem_.weight(p);
  for (Index c = 0; weight != 1 && c < problem_.part(p).cells(); ++c) with_[c] *= weight, without_[c] *= weight;
  return true;
}

void Dual::tell(Index copy) {
  const Index p = problem_.owner(copy), v = problem_.variable(copy);
  const Index cell = copy - problem_.begin(p);
  const double u = is_free(v) ? multiplier_[copy] : fixed_[v] ? 0 : kNever<double>;
  part(p).adjust(cell, problem_.weight(p) == 1 ? u : u / problem_.weight(p));
  part(p).require(cell, fixed_[v] == 1);
}

void Dual::adjust(Index copy) {
  tell(copy);
  const Index p = problem_.owner(copy);
  if (!dirty_[p]) dirty_[p] = 1, changed_.push_back(p);
}

void Dual::set_multiplier(Index copy, double u) {
  if (u == multiplier_[copy]) return;
  multiplier_[copy] = u;
  adjust(copy);
}

void Dual::set_multipliers(const std::vector<double>& multipliers) {
  for (Index copy = 0; copy < problem_.copies(); ++copy)
    if (moves(problem_.variable(copy))) set_multiplier(copy, multipliers[copy]);
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
  trail_.push_back(v);
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
  if (!any || !part(p).propagates()) return true;  // evaluate() finds out whether anything is left
  work_ += 2 * part(p).cells();
  if (!part(p).find_possible(with_.data(), without_.data())) return true;
  for (Index copy = begin; copy < end; ++copy) {
    const Index v = problem_.variable(copy);
    const bool on = with_[copy - begin] != kNever<double>, off = without_[copy - begin] != kNever<double>;
    if (!on && !off) return false;
    if (is_free(v) && !problem_.is_reserve(v) && !(on && off) && !fix(v, on)) return false;
  }
  return true;
}

void Dual::find_losses() {
  std::fill(on_loss_.begin(), on_loss_.end(), 0.0);
  std::fill(off_loss_.begin(), off_loss_.end(), 0.0);
  for (const Index p : open_) {
    if (!max_marginals(p)) continue;
    const Index begin = problem_.begin(p), cells = problem_.part(p).cells();
    if (problem_.has_each_once(p)) {
      for (Index c = 0; c < cells; ++c) {
        const Index v = problem_.variable(begin + c);
        on_loss_[v] += with_[c] - value_[p];
        off_loss_[v] += without_[c] - value_[p];
      }
      continue;
    }
    // Two copies of a variable in one part bound the same structures: the lower bound holds, not the sum.
    for (Index c = 0; c < cells; ++c) {
      const Index v = problem_.variable(begin + c);
      if (!is_free(v)) continue;
      on_least_[v] = std::min(on_least_[v], with_[c] - value_[p]);
      off_least_[v] = std::min(off_least_[v], without_[c] - value_[p]);
    }
    for (Index c = 0; c < cells; ++c) {
      const Index v = problem_.variable(begin + c);
      if (!is_free(v)) continue;
      on_loss_[v] += on_least_[v];
      off_loss_[v] += off_least_[v];
      on_least_[v] = off_least_[v] = 0;
    }
  }
}

bool Dual::fix_by_bounds(double score, double size, Index* count) {
  find_losses();
  // Of whole numbers, the next better one is 1 more.
  const double room = (whole_ ? score + 1 - kWhole : score) - bound() - kMargin * magnitude() - 2 * rounding(size);
  *count = 0;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!is_free(v) || problem_.is_reserve(v)) continue;
    const bool off = on_loss_[v] <= room, on = off_loss_[v] <= room;
    if (off && on) return false;
    if (off || on) {
      ++*count;
      if (!fix(v, on)) return false;
    }
  }
  return propagate();
}

void Dual::find_worths(double most, std::vector<double>& worths) {
  worths.assign(problem_.copies(), 0.0);
  for (const Index p : open_) {
    if (!max_marginals(p)) continue;
    double* own = worths.data() + problem_.begin(p);
    for (const CellGroup& group : problem_.part(p).groups()) {
      double best = kNever<double>, second = kNever<double>;
      for (Index c = group.begin; group.exactly_one && c < group.end; ++c) {
        second = std::max(second, std::min(best, with_[c]));
        best = std::max(best, with_[c]);
      }
      for (Index c = group.begin; c < group.end; ++c)
        own[c] = compare(with_[c], group.exactly_one ? (best + second) / 2 : without_[c], most);
    }
  }
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
  const double* u = snapshot.multipliers.data();
  for (const Index p : snapshot.open)
    for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) set_multiplier(copy, *u++);
  restore_fixed(snapshot.fixed);
  find_open();
}

void Dual::forget_queue() {
  for (const Index p : queue_) touched_[p] = 0;
  queue_.clear();
}

void Dual::undo(std::size_t trail) {
  forget_queue();
  for (; trail_.size() > trail; trail_.pop_back()) {
    const Index v = trail_.back();
    fixed_[v] = kFree;
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) adjust(*copy);
  }
}

// Nobody goes back further than to here.
void Dual::restore_fixed(const std::vector<std::int8_t>& fixed) {
  forget_queue();
  trail_.clear();
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (fixed_[v] == fixed[v]) continue;
    fixed_[v] = fixed[v];
    for (const Index* copy = problem_.first_copy(v); copy != problem_.last_copy(v); ++copy) adjust(*copy);
  }
}

}  // namespace certus::relax
