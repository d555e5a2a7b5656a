#include "relax/separators.hpp"

#include <algorithm>

namespace certus::relax {
namespace {

// By variable: the first one of those that are dealt with together with it, itself where it is alone.
class Grouping {
 public:
  explicit Grouping(const Problem& problem)
      : problem_(problem), first_(problem.variables(), -1), size_(problem.variables(), 0) {
    while (find_conflicts()) {
    }
  }
  bool is_alone(Index v) const { return size_[v] == 1; }

 private:
  // Groups that overlap, or have their cells in another order, fall apart. Returns whether there were any.
  bool find_conflicts() {
    bool any = false;
    for (Index p = 0; p < problem_.parts(); ++p)
      for (const CellGroup& group : problem_.part(p).groups()) {
        const Index head = problem_.variable(problem_.begin(p) + group.begin), count = group.end - group.begin;
        bool same = true;
        for (Index c = group.begin; c < group.end; ++c) {
          const Index v = problem_.variable(problem_.begin(p) + c);
          if (first_[v] < 0) first_[v] = head, size_[v] = count;
          same = same && first_[v] == head && size_[v] == count && v - head == c - group.begin;
        }
        for (Index c = group.begin; !same && c < group.end; ++c) {
          const Index v = problem_.variable(problem_.begin(p) + c);
          any = any || size_[v] != 1;
          first_[v] = v, size_[v] = 1;
        }
      }
    return any;
  }

  const Problem& problem_;
  std::vector<Index> first_, size_;
};

// The places of a part, without the separators that they are at.
void list_places(const Problem& problem, const Grouping& grouping, Index p, std::vector<Place>& places) {
  places.clear();
  for (const CellGroup& group : problem.part(p).groups()) {
    if (group.begin == group.end) continue;
    const Index head = problem.variable(problem.begin(p) + group.begin);
    if (group.exactly_one && !grouping.is_alone(head)) {
      places.push_back({p, group.begin, group.end, true, false, false});
      continue;
    }
    for (Index c = group.begin; c < group.end; ++c) places.push_back({p, c, c + 1, false, false, false});
  }
}

}  // namespace

std::vector<Separator> find_separators(const Problem& problem, Index most) {
  const Grouping grouping(problem);
  std::vector<Place> places;
  std::vector<Index> number(problem.variables(), -1);
  std::vector<std::uint8_t> heads(problem.variables(), 0);
  for (Index p = 0; p < problem.parts(); ++p) {
    if (!problem.has_each_once(p)) return {};
    list_places(problem, grouping, p, places);
    if (static_cast<Index>(places.size()) > most) return {};
    for (const Place& place : places) heads[problem.variable(problem.begin(p) + place.begin)] = 1;
  }
  std::vector<Separator> separators;
  for (Index v = 0; v < problem.variables(); ++v)
    if (heads[v] && problem.count(v) > 1) {
      number[v] = static_cast<Index>(separators.size());
      separators.emplace_back();
    }
  for (Index p = 0; p < problem.parts(); ++p) {
    list_places(problem, grouping, p, places);
    Index least = problem.variables(), largest = -1;
    const auto find = [&](const Place& place) { return number[problem.variable(problem.begin(p) + place.begin)]; };
    for (const Place& place : places)
      if (find(place) >= 0) least = std::min(least, find(place)), largest = std::max(largest, find(place));
    for (Place& place : places) {
      const Index at = find(place);
      if (at < 0) continue;
      place.before = least < at;
      place.after = largest > at;
      separators[at].places.push_back(place);
      separators[at].in += place.before;
      separators[at].out += place.after;
    }
  }
  return separators;
}

}  // namespace certus::relax
