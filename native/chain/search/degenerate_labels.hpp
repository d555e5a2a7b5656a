// The degenerate labels of Kaji et al. 2010, section 3.1, as far as the model alone decides them.
//
// Labels are ranked once, most probable first. At level m, a column keeps the 2^m first labels apart ("active")
// and takes the others, "the rest", as one label whose every score is the largest of its members' (equations 1-4).
// Columns of a trellis may stand at different levels, so there is a score between the rests of any two levels.
//
// The paper estimates p(y) from training data. Where the caller gives no ranking, labels are ranked by
// sum_i exp(transition(i, y)): of all that the model knows, it is the closest to how often a label is entered.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "chain/model.hpp"

namespace certus {

template <class S>
struct DegenerateTables {
  Index labels;
  Index levels;              // the least M with 2^M >= labels: there, all labels are active and no rest is left
  std::vector<Label> order;  // [labels]: by rank
  std::vector<S> leave;      // [levels][labels]: the best transition from a label into the rest of a level,
  std::vector<S> enter;      // [levels][labels]: from the rest of a level into a label,
  std::vector<S> between;    // [levels][levels]: from the rest of one level into the rest of another
  std::vector<S> ranked;     // [labels][stride]: the transitions themselves, rows and columns by rank, so that the
  Index stride = 0;          // active labels of a column lie side by side; only where one dense matrix serves all
  std::vector<Label> rank;   // [labels]: of each label

  Index active(Index level) const { return std::min(Index{1} << level, labels); }
  bool has_rest(Index level) const { return level < levels; }
  const S* leaving(Index level) const { return leave.data() + level * labels; }
  const S* entering(Index level) const { return enter.data() + level * labels; }
};

// The labels by decreasing score, such as how often each was seen.
template <class X>
std::vector<Label> rank_labels(const std::vector<X>& score) {
  std::vector<Label> order(score.size());
  std::iota(order.begin(), order.end(), Label{0});
  std::stable_sort(order.begin(), order.end(), [&](Label a, Label b) { return score[a] > score[b]; });
  return order;
}

// Computed on first use; bounds the transitions of every position where they differ.
template <class S>
const DegenerateTables<S>& degenerate_tables(const Model<S>& model);

// No transition scores more.
template <class S>
double largest_transition(const Model<S>& model) {
  const std::vector<double>& leave = model.bounds().leave;
  return largest(leave.data(), model.labels());
}

}  // namespace certus
