#include "syntax/dependency/free_picks.hpp"

#include <algorithm>

namespace certus::syntax {

double FreePicks::find(const Arcs& arcs, const TreeScores<double>& scores, const double* parent_weights) {
  const auto count = static_cast<std::size_t>(arcs.size());
  live_.id.resize(count);
  live_.place.resize(count);
  live_.required.resize(count);
  for (Index a = 0; a < arcs.size(); ++a) {
    const Label m = arcs.modifier(a);
    live_.id[a] = live_.place[a] = static_cast<Label>(a);
    live_.required[a] = arcs.into_begin(m + 1) - arcs.into_begin(m) == 1;
  }
  picks_.resize(static_cast<std::size_t>(arcs.words()) + 1);
  double total = 0;
  for (Index h = 0; h <= arcs.words(); ++h) {
    automaton_.assign(arcs, scores, h, live_);
    total += automaton_.maximize(scores.arcs, parent_weights);
    if (total == kNever<double>) return total;
    automaton_.list_chosen(picks_[h].arcs, &picks_[h].parent);
    std::sort(picks_[h].arcs.begin(), picks_[h].arcs.end());
  }
  return total;
}

}  // namespace certus::syntax
