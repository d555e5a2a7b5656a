#include "relax/descent.hpp"

#include <algorithm>
#include <cmath>

namespace certus::relax {
namespace {

constexpr Index kSequential = 8;  // groups for which max-marginals are found anew; with more, each gives a share

// What a cell that no structure uses, or that every structure uses, is worth: as much as anything else is.
double clip(double worth, double most) { return std::clamp(worth, -most, most); }

class Giver {
 public:
  Giver(Dual& dual, bool forward, double most)
      : dual_(dual), problem_(dual.problem()), forward_(forward), most_(most) {}

  void give(Index p) {
    const std::vector<CellGroup>& groups = problem_.part(p).groups();
    const Index count = static_cast<Index>(groups.size());
    const bool anew = count <= kSequential;
    for (Index i = 0; i < count; ++i) {
      const CellGroup& group = groups[forward_ ? i : count - 1 - i];
      if (!group.exactly_one && !dual_.is_free(problem_.variable(problem_.begin(p) + group.begin))) continue;
      if ((anew || i == 0) && !dual_.max_marginals(p)) return;
      give_group(p, group, anew ? 1.0 : 1.0 / static_cast<double>(count));
    }
  }

 private:
  void give_group(Index p, const CellGroup& group, double share) {
    const double *with = dual_.with(), *without = dual_.without();
    const double best = group.exactly_one ? *std::max_element(with + group.begin, with + group.end) : 0;
    for (Index c = group.begin; c < group.end; ++c) {
      const Index copy = problem_.begin(p) + c;
      if (!dual_.is_free(problem_.variable(copy))) continue;
      give_cell(copy, share * clip(group.exactly_one ? with[c] - best : with[c] - without[c], most_));
    }
  }

  void give_cell(Index copy, double worth) {
    const Index v = problem_.variable(copy), p = problem_.owner(copy);
    const Index* at = problem_.place(copy);
    const Index *first = forward_ ? at + 1 : problem_.first_copy(v), *last = forward_ ? problem_.last_copy(v) : at;
    Index others = 0;
    for (const Index* other = first; other != last; ++other) others += problem_.owner(*other) != p;
    if (others == 0) return;
    const double gift = dual_.round(worth / static_cast<double>(others));
    if (gift == 0) return;
    for (const Index* other = first; other != last; ++other)
      if (problem_.owner(*other) != p) dual_.move(*other, gift);
    dual_.move(copy, -gift * static_cast<double>(others));
  }

  Dual& dual_;
  const Problem& problem_;
  bool forward_;
  double most_;
};

// One separator: what its cells are worth to all parts, taken together and dealt out again.
class Pool {
 public:
  Pool(Dual& dual, double most) : dual_(dual), problem_(dual.problem()), most_(most) {}

  void settle(const Separator& separator, bool forward) {
    const auto first_copy = [&](const Place& place) { return problem_.begin(place.part) + place.begin; };
    const Index head = problem_.variable(first_copy(separator.places.front()));
    const Index cells = separator.places.front().end - separator.places.front().begin;
    sum_.assign(cells, 0.0);
    worth_.resize(separator.places.size() * cells);
    for (std::size_t n = 0; n < separator.places.size(); ++n)
      if (!measure(separator.places[n], worth_.data() + n * cells)) return;
    const Index ahead = forward ? separator.out : separator.in, behind = forward ? separator.in : separator.out;
    const double share = 1 / static_cast<double>(std::max({ahead, behind, Index{1}}));
    const double rest = behind > 0 ? (1 - share * static_cast<double>(ahead)) / static_cast<double>(behind) : 0;
    for (Index c = 0; c < cells; ++c) {
      if (!dual_.moves(head + c)) continue;
      double left = 0;  // what rounding and places at the ends of nothing leave
      for (std::size_t n = 0; n < separator.places.size(); ++n) {
        const Place& place = separator.places[n];
        const bool on = forward ? place.after : place.before, back = forward ? place.before : place.after;
        const double given = (on ? share : 0) + (back ? rest : 0);
        const double change = dual_.round(given * sum_[c] - worth_[n * cells + c]);
        dual_.move(first_copy(place) + c, change);
        left += change;
      }
      if (left != 0) dual_.move(first_copy(separator.places.back()) + c, -left);
    }
  }

 private:
  bool measure(const Place& place, double* worth) {
    if (!dual_.max_marginals(place.part)) return false;
    const double *with = dual_.with(), *without = dual_.without();
    const double best = place.exactly_one ? *std::max_element(with + place.begin, with + place.end) : 0;
    if (best == kNever<double>) return false;
    for (Index c = place.begin; c < place.end; ++c) {
      const double lost = place.exactly_one ? with[c] - best : with[c] - without[c];
      worth[c - place.begin] = std::isnan(lost) ? 0.0 : clip(lost, most_);
      sum_[c - place.begin] += worth[c - place.begin];
    }
    return true;
  }

  Dual& dual_;
  const Problem& problem_;
  double most_;
  std::vector<double> sum_, worth_;
};

}  // namespace

void descend(Dual& dual, const std::vector<Separator>& separators, bool forward, Watch& watch) {
  Pool pool(dual, dual.largest());
  for (std::size_t i = 0; i < separators.size(); ++i) {
    const Separator& separator = separators[forward ? i : separators.size() - 1 - i];
    pool.settle(separator, forward);
    for (const Place& place : separator.places) watch(16 * dual.problem().part(place.part).cells());
  }
}

void descend(Dual& dual, bool forward, Watch& watch) {
  Giver giver(dual, forward, dual.largest());
  const std::vector<Index>& open = dual.open();
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Index p = open[forward ? i : open.size() - 1 - i];
    giver.give(p);
    watch(16 * dual.problem().part(p).cells());
  }
}

}  // namespace certus::relax
