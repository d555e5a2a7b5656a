#include "syntax/dependency/reduction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/rounding.hpp"

namespace certus::syntax {
namespace {

// Calls visit(slot, index, kind) for all numbers of parts that a tree may use: kinds are siblings, grandsiblings and
// grandparents. The slot is the arc that is the last of the part, or, for those that end a side, the number of arcs and
// that of the side.
template <class Visit>
void for_each_part(const Arcs& arcs, const OwnScores& scores, const Visit& visit) {
  for (Index side = 0; side < arcs.sides(); ++side) {
    const Index h = side / 2, k = arcs.candidates(side);
    for (Index parent = 0; parent < arcs.parents(h); ++parent) {
      const Label above = h == 0 ? -1 : arcs.head(arcs.into(arcs.into_begin(h) + parent));
      const auto is_above = [&](Index i) { return i < k && arcs.modifier(arcs.candidate(side, i)) == above; };
      for (Index next = 0; next <= k; ++next) {
        const Index slot = next < k ? Index{arcs.candidate(side, next)} : arcs.size() + side;
        for (Index previous = 0; previous <= next; ++previous) {
          if (parent == 0 && !scores.siblings.empty()) visit(slot, arcs.sibling(side, previous, next), 0);
          if (!scores.grandsiblings.empty() && !is_above(next) && !(previous && is_above(previous - 1)))
            visit(slot, arcs.grandsibling(side, parent, previous, next), 1);
        }
        if (next < k && !scores.grandparents.empty() && !is_above(next)) visit(slot, arcs.grandparent(parent, slot), 2);
      }
    }
  }
}

}  // namespace

TreeScores<double> OwnScores::view() const {
  const auto get = [](const std::vector<double>& x) { return x.empty() ? nullptr : x.data(); };
  return {arcs.data(), get(siblings), get(grandparents), get(grandsiblings)};
}

double OwnScores::measure_scale(const Arcs& all) const {
  const auto measure = [](const std::vector<double>& x) {
    return find_magnitude(x.data(), static_cast<Index>(x.size()));
  };
  const auto words = static_cast<double>(all.words()), pairs = words + static_cast<double>(all.sides());
  return words * (measure(arcs) + measure(grandparents)) + pairs * (measure(siblings) + measure(grandsiblings));
}

double OwnScores::find_allowance(double scale) const {
  return certus::find_allowance(scale, [&] {
    return std::ranges::all_of(std::array{&arcs, &siblings, &grandparents, &grandsiblings},
                               [](const auto* x) { return are_whole(x->data(), static_cast<Index>(x->size())); });
  });
}

void reduce_scores(const Arcs& arcs, double score, double margin, OwnScores& scores) {
  std::vector<double>* const tables[] = {&scores.siblings, &scores.grandsiblings, &scores.grandparents};
  const auto slots = static_cast<std::size_t>(arcs.size() + arcs.sides());
  std::vector<double> best[3], total(slots, 0);  // [slots]: of each kind, and of all with the arc
  for (std::vector<double>& of_kind : best) of_kind.assign(slots, kNever<double>);
  for_each_part(arcs, scores, [&](Index slot, Index i, int kind) {
    best[kind][slot] = std::max(best[kind][slot], (*tables[kind])[i]);
  });
  std::copy(scores.arcs.begin(), scores.arcs.end(), total.begin());
  for (int kind = 0; kind < 3; ++kind)
    for (std::size_t slot = 0; slot < slots && !tables[kind]->empty(); ++slot)
      if (kind < 2 || slot < scores.arcs.size()) total[slot] += best[kind][slot];

  std::vector<double> of_word(static_cast<std::size_t>(arcs.words()) + 1, kNever<double>);
  for (Index a = 0; a < arcs.size(); ++a) {
    double& most = of_word[arcs.modifier(a)];
    most = std::max(most, total[a]);
  }
  double bound = 0;
  for (Index m = 1; m <= arcs.words(); ++m) bound += of_word[m];
  for (std::size_t slot = scores.arcs.size(); slot < slots; ++slot) bound += total[slot];
  if (!std::isfinite(bound)) return;

  // What the rest of a tree has to be worth less than, for a number in a slot to be forbidden.
  const auto rest = [&](Index slot) {
    return bound - (slot < arcs.size() ? of_word[arcs.modifier(slot)] : total[slot]);
  };
  std::vector<double> kept[3];
  for (int kind = 0; kind < 3; ++kind) kept[kind].assign(tables[kind]->size(), kNever<double>);
  for_each_part(arcs, scores, [&](Index slot, Index i, int kind) {
    const double x = (*tables[kind])[i];
    if (std::isfinite(total[slot]) && rest(slot) + total[slot] - best[kind][slot] + x >= score - margin)
      kept[kind][i] = x;
  });
  for (int kind = 0; kind < 3; ++kind) tables[kind]->swap(kept[kind]);
  for (Index a = 0; a < arcs.size(); ++a)
    if (!(rest(a) + total[a] >= score - margin)) scores.arcs[a] = kNever<double>;
}

}  // namespace certus::syntax
