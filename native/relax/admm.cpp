#include "relax/admm.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {
namespace {

constexpr double kPenalty = 1.0;                    // of what a cell is worth
constexpr double kApart = 10;                       // residuals that differ by so much change the penalty
constexpr double kLeast = 0x1p-20, kMost = 0x1p20;  // of the first penalty
constexpr Index kAsked = 10;                        // maxima of a part in one iteration
constexpr double kSettled = 1e-9;                   // squared residuals, per copy, of a minimum

}  // namespace

Admm::Admm(Dual& dual, double penalty)
    : Optimizer(dual),
      given_(penalty),
      programs_(problem_.parts()),
      mixture_(problem_.copies()),
      mean_(problem_.variables()),
      toward_(problem_.copies()) {}

void Admm::start() {
  penalty_ = given_ > 0 ? given_ : kPenalty * dual_.worth();
  penalty_ = std::max(penalty_, dual_.grid());
  for (Index p = 0; p < problem_.parts(); ++p) programs_[p].start(dual_, p);
  for (Index copy = 0; copy < problem_.copies(); ++copy) mixture_[copy] = dual_.uses(copy) ? 1.0 : 0.0;
  double moved;
  agree(&moved);
}

double Admm::agree(double* moved) {
  double apart = 0;
  *moved = 0;
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.moves(v)) continue;
    const Index *first = problem_.first_copy(v), *last = problem_.last_copy(v);
    const double count = static_cast<double>(problem_.count(v));
    double mean = 0;
    for (const Index* copy = first; copy != last; ++copy) mean += mixture_[*copy];
    mean /= count;
    for (const Index* copy = first; copy != last; ++copy) apart += (mixture_[*copy] - mean) * (mixture_[*copy] - mean);
    *moved += count * (mean - mean_[v]) * (mean - mean_[v]);
    mean_[v] = mean;
  }
  return apart;
}

// The nearest point to the mean and the scores, where the part's structures score by their cells alone.
bool Admm::project_part(Index p) {
  const Part& part = dual_.part(p);
  const Index begin = problem_.begin(p), cells = part.cells();
  aim_.resize(cells);
  nearest_.resize(cells);
  for (Index c = 0; c < cells; ++c) {
    const Index v = problem_.variable(begin + c);
    const double score = problem_.weight(p) * part.cell_score(c);
    // A cell of this part alone stays near what it was.
    const double near = dual_.moves(v) ? toward_[begin + c] : mixture_[begin + c];
    aim_[c] = near + (std::isfinite(score) ? score / penalty_ : 0.0);
  }
  if (!dual_.part(p).project(aim_.data(), nearest_.data())) return false;
  std::copy(nearest_.begin(), nearest_.end(), mixture_.begin() + begin);
  return true;
}

void Admm::solve_part(Index p) {
  for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy)
    toward_[copy] = mean_[problem_.variable(copy)] + dual_.multiplier(copy) / penalty_;
  if (project_part(p)) return;
  programs_[p].solve(dual_, p, penalty_, toward_, kAsked, mixture_);
  dual_.adjust_part(p);
}

void Admm::move_multipliers() {
  for (Index v = 0; v < problem_.variables(); ++v) {
    if (!dual_.moves(v)) continue;
    const Index *first = problem_.first_copy(v), *last = problem_.last_copy(v);
    double rest = 0;
    for (const Index* copy = first + 1; copy != last; ++copy) {
      const double u = dual_.round(dual_.multiplier(*copy) - penalty_ * (mixture_[*copy] - mean_[v]));
      dual_.set_multiplier(*copy, u);
      rest += u;
    }
    dual_.set_multiplier(*first, -rest);
  }
}

bool Admm::next(const Whole& /*best*/) {
  for (const Index p : dual_.open()) solve_part(p);
  double moved;
  const double apart = agree(&moved);
  move_multipliers();
  step_ = penalty_;
  const double first = given_ > 0 ? given_ : kPenalty * dual_.worth();
  if (apart > kApart * kApart * moved) penalty_ = std::min(2 * penalty_, kMost * first);
  else if (moved > kApart * kApart * apart) penalty_ = std::max(penalty_ / 2, kLeast * first);
  penalty_ = std::max(penalty_, dual_.grid());
  return apart + moved > kSettled * static_cast<double>(problem_.copies());
}

bool Admm::fill_average(std::vector<double>& average) const {
  average = mixture_;
  return true;
}

}  // namespace certus::relax
