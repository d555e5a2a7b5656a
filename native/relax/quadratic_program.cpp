#include "relax/quadratic_program.hpp"

#include <algorithm>

#include "relax/mixture.hpp"

namespace certus::relax {
namespace {

constexpr Index kMixtureMoves = 1000;  // of weight between two structures, for one mixture
constexpr double kEnough = 1e-9;       // of the scores: a gain that is none

Index count_common(const Dual& dual, Index p, const std::vector<Index>& a, const std::vector<Index>& b) {
  const Problem& problem = dual.problem();
  Index common = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i < *j) ++i;
    else if (*j < *i) ++j;
    else common += dual.moves(problem.variable(problem.begin(p) + *i)), ++i, ++j;
  }
  return common;
}

}  // namespace

void Quadratic::start(const Dual& dual, Index p) {
  known_.clear(), gram_.clear(), weight_.clear();
  found_ = {dual.used(p), dual.score(p)};
  append(dual, p);
}

// Takes in what was found, without weight, but for the first.
void Quadratic::append(const Dual& dual, Index p) {
  known_.push_back(found_);
  weight_.push_back(known_.size() == 1 ? 1.0 : 0.0);
  gram_.emplace_back();
  for (std::size_t k = 0; k < known_.size(); ++k) {
    const double product = static_cast<double>(count_common(dual, p, known_[k].used, found_.used));
    gram_.back().push_back(product);
    if (k + 1 < known_.size()) gram_[k].push_back(product);
  }
}

void Quadratic::drop() {
  for (std::size_t k = known_.size(); k-- > 0;) {
    if (weight_[k] > 0) continue;
    known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(k));
    weight_.erase(weight_.begin() + static_cast<std::ptrdiff_t>(k));
    gram_.erase(gram_.begin() + static_cast<std::ptrdiff_t>(k));
    for (std::vector<double>& row : gram_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

void Quadratic::fill_point(const Dual& dual, Index p, std::vector<double>& point) const {
  const Index begin = dual.problem().begin(p), end = dual.problem().begin(p + 1);
  std::fill(point.begin() + begin, point.begin() + end, 0.0);
  for (std::size_t k = 0; k < known_.size(); ++k)
    for (const Index c : known_[k].used) point[begin + c] += weight_[k];
}

void Quadratic::solve(Dual& dual, Index p, double penalty, const std::vector<double>& toward, Index most,
                      std::vector<double>& point) {
  const Problem& problem = dual.problem();
  Part& part = dual.part(p);
  const Index begin = problem.begin(p);
  const double enough = kEnough * dual.largest();
  for (Index asked = 0;; ++asked) {
    gain_.assign(known_.size(), 0.0);
    for (std::size_t k = 0; k < known_.size(); ++k) {
      gain_[k] = known_[k].score;
      for (const Index c : known_[k].used)
        if (dual.moves(problem.variable(begin + c))) gain_[k] += penalty * toward[begin + c];
    }
    block_.assign(known_.size(), 0);
    mix(gram_, penalty, gain_, block_, 1, enough, kMixtureMoves, weight_, slope_);
    fill_point(dual, p, point);
    if (asked == most) break;
    const double best = *std::max_element(slope_.begin(), slope_.end());
    for (Index c = 0; c < part.cells(); ++c)
      if (dual.moves(problem.variable(begin + c)))
        part.adjust(c, penalty * (toward[begin + c] - point[begin + c]) / problem.weight(p));
    found_.score = problem.weight(p) * part.maximize(found_.used);
    double worth = found_.score;
    for (const Index c : found_.used)
      if (dual.moves(problem.variable(begin + c))) worth += penalty * (toward[begin + c] - point[begin + c]);
    if (!(worth > best + enough)) break;
    drop();
    append(dual, p);
  }
  drop();
}

}  // namespace certus::relax
