#include "translate/hierarchical/end_bounds.hpp"

#include <algorithm>

namespace certus::translate {
namespace {

// into[j] = max(into[j], x + values[j])
void raise_all(double* into, double x, const double* values, Index count) {
  for (Index j = 0; j < count; ++j) into[j] = std::max(into[j], x + values[j]);
}

}  // namespace

EndBounds::EndBounds(const ForestProblem& problem, const PrefixForest& prefixes, NeighbourScores& scores,
                     double threshold)
    : problem_(problem),
      prefixes_(prefixes),
      scores_(scores),
      threshold_(threshold),
      shape_(prefixes.prefixes.size()),
      inside_(problem.forest.nodes, kLeast),
      outside_(problem.forest.nodes, kLeast),
      prefix_(prefixes.prefixes.size()),
      node_(problem.forest.nodes),
      row_(scores.openings(), -1) {
  find_shapes();
  run_without_context();
  column_.assign(scores.neighbours(), -1);
  begin();
  for (Index v = 0; v < problem.forest.nodes; ++v) {
    for (Index q = prefixes.prefix_first[v]; q < prefixes.prefix_first[v + 1]; ++q) make_prefix(q);
    make_node(v);
  }
  run_outside();
}

void EndBounds::allocate(Table& table, Index rows, Index columns) {
  table.rows = rows;
  table.columns = columns;
  table.inside = arena_.get<double>(rows * columns, kLeast);
  table.outside = arena_.get<double>(rows * columns, kLeast);
}

// Leaves out what cannot be part of a derivation of the threshold; all of it where nothing can.
void EndBounds::prune(Table& table, double outside) {
  bool is_alive = false;
  for (Index r = 0; r < table.rows; ++r) {
    const double around = outside + scores_.bound(table.left[r]);
    double* values = table.inside + r * table.columns;
    for (Index c = 0; c < table.columns; ++c) {
      if (values[c] > kLeast && values[c] + around >= threshold_) {
        is_alive = true;
      } else {
        values[c] = kLeast;
      }
    }
  }
  if (!is_alive) table.rows = table.columns = 0;
}

void EndBounds::make_prefix(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const Shape& shape = shape_[q];
  if (shape.outside == kLeast || !(shape.inside + shape.outside >= threshold_)) return;
  if (parent == PrefixForest::kAnywhere) {
    start(q);
  } else if (prefix_[parent].rows > 0) {
    is_node(symbol) ? add_node(q) : add_word(q);
  }
  if (prefix_[q].rows > 0) prune(prefix_[q], shape.outside);
  heed_(20 * prefix_[q].rows * prefix_[q].columns + 100);
}

// The prefix that is <s>.
void EndBounds::begin() {
  Table& made = prefix_[PrefixForest::kStart];
  Opening* left = arena_.get<Opening>(1);
  *left = scores_.start();
  made.left = left;
  made.right = &shape_[PrefixForest::kStart].right;
  allocate(made, 1, 1);
  *made.inside = 0;
}

// The first word or node of edges.
void EndBounds::start(Index q) {
  const Symbol symbol = prefixes_.prefixes[q].symbol;
  Table& made = prefix_[q];
  if (is_node(symbol)) {
    const Table& part = node_[~symbol];
    made = part;
    allocate(made, part.rows, part.columns);
    std::copy(part.inside, part.inside + part.rows * part.columns, made.inside);
    return;
  }
  Opening* left = arena_.get<Opening>(1);
  *left = scores_.open(static_cast<Word>(symbol));
  made.left = left;
  made.right = &shape_[q].right;
  allocate(made, 1, 1);
  *made.inside = scores_.score_first(static_cast<Word>(symbol));
}

void EndBounds::add_word(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const Table& before = prefix_[parent];
  const Opening word = scores_.number(static_cast<Word>(symbol));
  Table& made = prefix_[q];
  made.left = before.left;
  made.right = &shape_[q].right;
  allocate(made, before.rows, 1);
  for (Index c = 0; c < before.columns; ++c) {
    const double cost = scores_.row(before.right[c])[word];
    for (Index r = 0; r < before.rows; ++r) raise(made.inside[r], before.inside[r * before.columns + c] + cost);
  }
}

void EndBounds::add_node(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const Table &before = prefix_[parent], &part = node_[~symbol];
  if (part.rows == 0) return;
  Table& made = prefix_[q];
  made.left = before.left;
  made.right = part.right;
  allocate(made, before.rows, part.columns);
  scratch_.assign(before.rows * part.rows, kLeast);  // [rows][openings of the part]
  for (Index c = 0; c < before.columns; ++c) {
    const double* costs = scores_.row(before.right[c]);
    for (Index r = 0; r < before.rows; ++r) {
      const double value = before.inside[r * before.columns + c];
      if (value == kLeast) continue;
      double* sums = scratch_.data() + r * part.rows;
      for (Index f = 0; f < part.rows; ++f) raise(sums[f], value + costs[part.left[f]]);
    }
  }
  for (Index r = 0; r < before.rows; ++r)
    for (Index f = 0; f < part.rows; ++f)
      if (scratch_[r * part.rows + f] > kLeast)
        raise_all(made.inside + r * made.columns, scratch_[r * part.rows + f], part.inside + f * part.columns,
                  part.columns);
}

// Visits what edges make of a node: the opening, the last word, the table of the edge and the cell in it, its score.
template <class Use>
void EndBounds::visit_edges(Index v, const Use& use) const {
  const TargetForest& forest = problem_.forest;
  for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
    const Index q = prefixes_.whole[e];
    const Table& whole = prefix_[q];
    for (Index c = 0; c < whole.columns; ++c) {
      const Neighbour last = find_end(q, c);
      for (Index r = 0; r < whole.rows; ++r)
        if (whole.inside[r * whole.columns + c] > kLeast)
          use(whole.left[r], last, whole, r * whole.columns + c, forest.score[e]);
    }
  }
}

// The place of each row and column of a table while its cells are looked up.
void EndBounds::number_ends(const Table& table) {
  for (Index r = 0; r < table.rows; ++r) row_[table.left[r]] = r;
  for (Index c = 0; c < table.columns; ++c) column_[table.right[c]] = c;
}
void EndBounds::forget_ends(const Table& table) {
  for (Index r = 0; r < table.rows; ++r) row_[table.left[r]] = -1;
  for (Index c = 0; c < table.columns; ++c) column_[table.right[c]] = -1;
}

void EndBounds::make_node(Index v) {
  std::vector<Opening> left;
  std::vector<Neighbour> right;
  visit_edges(v, [&](Opening first, Neighbour last, const Table&, Index, double) {
    if (row_[first] < 0) row_[first] = 0, left.push_back(first);
    if (column_[last] < 0) column_[last] = 0, right.push_back(last);
  });
  if (left.empty()) return;
  Table& made = node_[v];
  Opening* lefts = arena_.get<Opening>(static_cast<Index>(left.size()));
  Neighbour* rights = arena_.get<Neighbour>(static_cast<Index>(right.size()));
  std::ranges::copy(left, lefts);
  std::ranges::copy(right, rights);
  made.left = lefts;
  made.right = rights;
  allocate(made, static_cast<Index>(left.size()), static_cast<Index>(right.size()));
  number_ends(made);
  visit_edges(v, [&](Opening first, Neighbour last, const Table& edge, Index cell, double score) {
    raise(made.inside[row_[first] * made.columns + column_[last]], edge.inside[cell] + score);
  });
  forget_ends(made);
  prune(made, outside_[v]);
}

void EndBounds::drop_below_threshold(const Table& table) const {
  for (Index i = 0; i < table.rows * table.columns; ++i)
    if (!(table.inside[i] + table.outside[i] >= threshold_)) table.outside[i] = kLeast;
}

void EndBounds::run_outside() {
  const TargetForest& forest = problem_.forest;
  const Table& goal = node_[forest.goal];
  const Opening end = scores_.number(kEnd);
  for (Index r = 0; r < goal.rows; ++r)
    for (Index c = 0; c < goal.columns; ++c) {
      goal.outside[r * goal.columns + c] = scores_.row(goal.right[c])[end];
      raise(bound_, goal.inside[r * goal.columns + c] + scores_.row(goal.right[c])[end]);
    }
  for (Index v = forest.goal; v >= 0; --v) {
    finish_node(v);
    for (Index q = prefixes_.prefix_first[v + 1] - 1; q >= prefixes_.prefix_first[v]; --q)
      if (prefix_[q].rows > 0) hand_down(q);
  }
}

// Hands what is around a node on to its edges; all that use it are done.
void EndBounds::finish_node(Index v) {
  const Table& whole = node_[v];
  if (whole.rows == 0) return;
  drop_below_threshold(whole);
  number_ends(whole);
  visit_edges(v, [&](Opening first, Neighbour last, const Table& edge, Index cell, double score) {
    raise(edge.outside[cell], whole.outside[row_[first] * whole.columns + column_[last]] + score);
  });
  forget_ends(whole);
}

// Hands what is around a prefix on to the two that it is made of.
void EndBounds::hand_down(Index q) {
  const auto [parent, symbol] = prefixes_.prefixes[q];
  const Table &whole = prefix_[q], &before = prefix_[parent];
  heed_(20 * whole.rows * whole.columns + 100);
  drop_below_threshold(whole);
  if (parent == PrefixForest::kAnywhere) {
    if (!is_node(symbol)) return;
    const Table& part = node_[~symbol];
    for (Index i = 0; i < whole.rows * whole.columns; ++i) raise(part.outside[i], whole.outside[i]);
    return;
  }
  if (!is_node(symbol)) {
    const Opening word = scores_.number(static_cast<Word>(symbol));
    for (Index c = 0; c < before.columns; ++c) {
      const double cost = scores_.row(before.right[c])[word];
      for (Index r = 0; r < before.rows; ++r) raise(before.outside[r * before.columns + c], whole.outside[r] + cost);
    }
    return;
  }
  hand_down_node(whole, before, node_[~symbol]);
}

// The same for a prefix that ends in a node.
void EndBounds::hand_down_node(const Table& whole, const Table& before, const Table& part) {
  scratch_.assign(whole.columns, kLeast);
  for (Index c = 0; c < before.columns; ++c) {
    const double* costs = scores_.row(before.right[c]);
    // The best of what is around the part, over all that begin the prefix and end in this neighbour.
    std::fill(scratch_.begin(), scratch_.end(), kLeast);
    for (Index r = 0; r < before.rows; ++r)
      if (before.inside[r * before.columns + c] > kLeast)
        raise_all(scratch_.data(), before.inside[r * before.columns + c], whole.outside + r * whole.columns,
                  whole.columns);
    other_.assign(whole.columns, kLeast);  // the best part with its cost here, by its last word
    for (Index f = 0; f < part.rows; ++f) {
      raise_all(part.outside + f * part.columns, costs[part.left[f]], scratch_.data(), part.columns);
      raise_all(other_.data(), costs[part.left[f]], part.inside + f * part.columns, part.columns);
    }
    for (Index r = 0; r < before.rows; ++r) {
      double& best = before.outside[r * before.columns + c];
      for (Index l = 0; l < whole.columns; ++l) raise(best, whole.outside[r * whole.columns + l] + other_[l]);
    }
  }
}

}  // namespace certus::translate
