#include "relax/proximal.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {
namespace {

constexpr Index kKnown = 10;         // structures remembered per part
constexpr int kAgain = 3;            // steps towards remembered ones, after each towards a new one
constexpr Index kPassesPerMove = 4;  // passes between two moves of the center
constexpr double kWeight = 0.2;      // of the typical worth of a cell: the weight of the squared distance

}  // namespace

Proximal::Proximal(Dual& dual)
    : dual_(dual),
      problem_(dual.problem()),
      center_(problem_.copies()),
      mixture_(problem_.copies()),
      score_(problem_.parts()),
      mean_(problem_.variables()),
      best_(problem_.copies()),
      known_(problem_.parts()),
      oldest_(problem_.parts()) {}

double Proximal::multiplier(Index copy) const {
  return center_[copy] - weight_ * (mixture_[copy] - mean_[problem_.variable(copy)]);
}

double Proximal::value(Index p, const Structure& structure) const {
  double value = structure.score;
  for (const Index c : structure.used) {
    const Index copy = problem_.begin(p) + c;
    value += dual_.is_free(problem_.variable(copy)) ? multiplier(copy) : 0;
  }
  return value;
}

void Proximal::begin() {
  weight_ = kWeight * dual_.worth();
  std::fill(mean_.begin(), mean_.end(), 0.0);
  for (const Index p : dual_.open()) {
    const Index first = problem_.begin(p), last = problem_.begin(p + 1);
    for (Index copy = first; copy < last; ++copy) center_[copy] = dual_.multiplier(copy), mixture_[copy] = 0;
    for (const Index c : dual_.used(p)) mixture_[first + c] = 1;
    score_[p] = dual_.score(p);
    known_[p].clear();
    oldest_[p] = 0;
    for (Index copy = first; copy < last; ++copy) {
      const Index v = problem_.variable(copy);
      mean_[v] += mixture_[copy] / static_cast<double>(problem_.count(v));
    }
  }
}

void Proximal::apply(Index p) {
  for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy)
    if (dual_.is_free(problem_.variable(copy))) dual_.set_multiplier(copy, multiplier(copy));
}

// Moves the mixture of a part towards a structure, as far as that gains.
void Proximal::mix(Index p, const Structure& structure) {
  const Index first = problem_.begin(p), cells = problem_.part(p).cells();
  change_.resize(cells);
  for (Index c = 0; c < cells; ++c) change_[c] = -mixture_[first + c];
  for (const Index c : structure.used) change_[c] += 1;
  double gain = structure.score - score_[p], curve = 0;
  for (Index c = 0; c < cells; ++c) {
    const Index v = problem_.variable(first + c);
    if (change_[c] == 0 || !dual_.is_free(v)) continue;
    gain += multiplier(first + c) * change_[c];
    curve += change_[c] * change_[c] * (1 - 1 / static_cast<double>(problem_.count(v)));
  }
  if (!(gain > 0)) return;
  const double step = gain < weight_ * curve ? gain / (weight_ * curve) : 1.0;
  for (Index c = 0; c < cells; ++c) {
    if (change_[c] == 0) continue;
    const Index v = problem_.variable(first + c);
    mixture_[first + c] += step * change_[c];
    mean_[v] += step * change_[c] / static_cast<double>(problem_.count(v));
  }
  score_[p] += step * (structure.score - score_[p]);
}

void Proximal::remember(Index p) {
  std::vector<Structure>& known = known_[p];
  for (const Structure& structure : known)
    if (structure.used == found_.used) return;
  if (static_cast<Index>(known.size()) < kKnown) {
    known.push_back(found_);
  } else {
    known[oldest_[p]] = found_;
    oldest_[p] = (oldest_[p] + 1) % kKnown;
  }
}

void Proximal::visit(Index p) {
  apply(p);
  found_.score = dual_.maximize(p, found_.used);
  remember(p);
  mix(p, found_);
  for (int again = 0; again < kAgain && known_[p].size() > 1; ++again) {
    const Structure* best = nullptr;
    double most = kNever<double>;
    for (const Structure& structure : known_[p]) {
      const double worth = value(p, structure);
      if (worth > most) most = worth, best = &structure;
    }
    mix(p, *best);
  }
}

bool Proximal::minimize(Index passes, double target, Watch& watch) {
  begin();
  const double before = dual_.bound();
  double least = before;
  const auto keep = [this] {
    for (const Index p : dual_.open())
      for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) best_[copy] = dual_.multiplier(copy);
  };
  keep();
  for (Index pass = 1; pass <= passes; ++pass) {
    for (const Index p : dual_.open()) {
      visit(p);
      watch(64 * problem_.part(p).cells());
    }
    if (pass % kPassesPerMove != 0 && pass != passes) continue;
    for (const Index p : dual_.open()) apply(p);
    dual_.balance();
    dual_.evaluate();
    if (dual_.bound() < least) least = dual_.bound(), keep();
    if (least <= target) break;
    for (const Index p : dual_.open())
      for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) center_[copy] = multiplier(copy);
  }
  for (const Index p : dual_.open())
    for (Index copy = problem_.begin(p); copy < problem_.begin(p + 1); ++copy) dual_.set_multiplier(copy, best_[copy]);
  dual_.evaluate();
  return least < before;
}

}  // namespace certus::relax
