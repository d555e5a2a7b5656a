#include "translate/phrase_relaxation.hpp"

#include <algorithm>
#include <numeric>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace certus::translate {

namespace {
constexpr double kNone64 = kNever<double>;
}

PhraseRelaxation::PhraseRelaxation(const PhraseGraph& graph) : graph_(graph), weight_(graph.row_of.size()) {
  layer_after_.resize(graph_.columns() - graph_.closed);
  open_weight_.resize(layer_after_.size());
  base_value_.resize(graph_.bases);
  entered_.resize(graph_.columns());
  list_reachable();
  tighten({});
}

// All rows can be reached at first once the words of their spans are counted, and the beginning at 0 only.
void PhraseRelaxation::list_reachable() {
  std::vector<std::int32_t> length;  // [rows] of the span
  length.reserve(graph_.nodes.size());
  for (const PhraseGraph::Node& node : graph_.nodes)
    length.push_back(graph_.reaches[node.reach].end - graph_.reaches[node.reach].begin);
  std::vector<char> alive((graph_.problem().words() + 1) * graph_.rows(), 0);
  alive[0] = 1;
  for (Index n = 1; n <= graph_.problem().words(); ++n)
    for (Row r = 1; r < graph_.rows(); ++r) alive[n * graph_.rows() + r] = n >= length[r];
  list_live(std::move(alive));
}

void PhraseRelaxation::list_live(std::vector<char> alive) {
  alive_ = std::move(alive);
  live_.assign(graph_.problem().words() + 1, {});
  std::vector<char> needed(graph_.bases);
  for (Index n = 0; n <= graph_.problem().words(); ++n) {
    const char* layer = alive_.data() + n * graph_.rows();
    if (n > 0 && std::equal(layer, layer + graph_.rows(), layer - graph_.rows())) {
      live_[n] = live_[n - 1];  // as of most, before anything is pruned
      continue;
    }
    std::copy(layer, layer + graph_.bases, needed.begin());
    live_[n].others.reserve(std::count(layer + graph_.bases, layer + graph_.rows(), 1));
    for (Row r = static_cast<Row>(graph_.bases); r < graph_.rows(); ++r)
      if (layer[r]) {
        live_[n].others.push_back(r);
        needed[graph_.nodes[r].base] = 1;
      }
    for (Row r = 0; r < graph_.bases; ++r)
      if (needed[r]) live_[n].bases.push_back(r);
  }
}

void PhraseRelaxation::tighten(std::vector<Index> words) {
  hard_ = std::move(words);
  masks_ = Index{1} << hard_.size();
  column_bits_.clear();
  for (const PhraseGraph::Phrases& one : graph_.phrases) column_bits_.push_back(find_bits(one.begin, one.end));
  reach_bits_.clear();
  for (const PhraseGraph::Reach& one : graph_.reaches) reach_bits_.push_back(find_bits(one.begin, one.end));
  const Index length = graph_.problem().words();
  outside_.assign(static_cast<std::size_t>((length + graph_.longest + 1) * masks_ * graph_.rows()), kNone64);
  values_.assign(static_cast<std::size_t>((length + 1) * masks_ * graph_.closed), kNone64);
}

std::uint32_t PhraseRelaxation::find_bits(Index begin, Index end) const {
  std::uint32_t bits = 0;
  for (std::size_t n = 0; n < hard_.size(); ++n)
    if (hard_[n] >= begin && hard_[n] < end) bits |= 1U << n;
  return bits;
}

void PhraseRelaxation::weigh_options(const std::vector<double>& multipliers) {
  std::vector<double> sums{0};
  for (const double u : multipliers) sums.push_back(sums.back() + u);
  offset_ = sums.back();
  const PhraseOptions& options = graph_.problem().options();
  for (Option o = 0; o < options.size(); ++o)
    weight_[o] = graph_.problem().base(o) + graph_.extra[o] - (sums[options.end[o]] - sums[options.begin[o]]);
  // The phrases of an open column are one to the language model; the best of them stands for all.
  for (Column c = static_cast<Column>(graph_.closed); c < graph_.columns(); ++c) {
    double& best = open_weight_[c - graph_.closed] = kNone64;
    for (Index m = graph_.phrases[c].first; m < graph_.phrases[c].last; ++m)
      best = std::max(best, weight_[graph_.members[m]]);
  }
}

double PhraseRelaxation::solve(const std::vector<double>& multipliers) {
  weigh_options(multipliers);
  const Index length = graph_.problem().words();
  const auto all = static_cast<std::uint32_t>(masks_ - 1);
  double* last = &outside_[find_layer(length, all)];
  for (Row r = 0; r < graph_.rows(); ++r)
    last[r] = alive_[length * graph_.rows() + r] ? graph_.nodes[r].final : kNone64;
  Heed heed;
  for (Index n = length - 1; n >= 0; --n)
    for (std::uint32_t bits = 0; bits <= all; ++bits) {
      graph_.deadline().check();
      find_layers_after(n, bits);
      fill_values(n, bits);
      fill_layer(n, bits);
      heed(static_cast<Index>(100 * live_[n].bases.size() + 10 * live_[n].others.size()) + graph_.columns());
    }
  return outside(0, 0, 0) + offset_;
}

// For each open column, where what comes after it stands.
void PhraseRelaxation::find_layers_after(Index n, std::uint32_t bits) {
  const std::size_t nowhere = find_layer(graph_.problem().words() + graph_.longest, 0);
  for (Column c = static_cast<Column>(graph_.closed); c < graph_.columns(); ++c) {
    const PhraseGraph::Phrases& one = graph_.phrases[c];
    const bool overlaps = (column_bits_[c] & bits) != 0;
    layer_after_[c - graph_.closed] = overlaps ? nowhere : find_layer(n + one.end - one.begin, bits | column_bits_[c]);
  }
}

// For each closed column the best of its phrases.
void PhraseRelaxation::fill_values(Index n, std::uint32_t bits) {
  double* values = values_.data() + (n * masks_ + bits) * graph_.closed;
  for (Column c = 0; c < graph_.closed; ++c) {
    const PhraseGraph::Phrases& one = graph_.phrases[c];
    values[c] = kNone64;
    if ((column_bits_[c] & bits) != 0) continue;
    const double* after = &outside_[find_layer(n + one.end - one.begin, bits | column_bits_[c])];
    for (Index m = one.first; m < one.last; ++m) {
      const Option o = graph_.members[m];
      values[c] = std::max(values[c], weight_[o] + after[graph_.row_of[o]]);
    }
  }
}

void PhraseRelaxation::fill_layer(Index n, std::uint32_t bits) {
  double* layer = &outside_[find_layer(n, bits)];
  const double* found = values(n, bits);
  const char* alive = alive_.data() + n * graph_.rows();
  const auto is_possible = [&](Row r) { return (reach_bits_[graph_.nodes[r].reach] & ~bits) == 0; };
  for (const Row r : live_[n].bases) {
    base_value_[r] = is_possible(r) ? find_best(r, found) : kNone64;
    layer[r] = alive[r] ? base_value_[r] : kNone64;
  }
  for (const Row r : live_[n].others) {
    const double base = graph_.nodes[r].backoff + base_value_[graph_.nodes[r].base];
    layer[r] = is_possible(r) ? std::max(base, find_best(r, found)) : kNone64;
  }
}

// The best column of a base, or among the arcs of another row.
double PhraseRelaxation::find_best(Row row, const double* values) const {
  const PhraseGraph::Node& node = graph_.nodes[row];
  const PhraseGraph::Reach& reach = graph_.reaches[node.reach];
  const Row* next = graph_.next.data() + graph_.nodes[node.base].next;
  const auto closed = static_cast<Column>(graph_.closed);
  double best = kNone64;
  if (node.base != row) {
    for (std::size_t n = node.arc_begin; n < node.arc_end; ++n) {
      const PhraseGraph::Arc& arc = graph_.arcs[n];
      const Column c = arc.column;
      best = std::max(best, c < closed ? arc.cost + values[c]
                                       : arc.cost + open_weight_[c - closed] +
                                             outside_[layer_after_[c - closed] + next[arc.place - reach.closed_count]]);
    }
    return best;
  }
  const double* cost = graph_.cost.get() + node.cost;
  for (const PhraseGraph::Range& range : reach.closed) {
    best = std::max(best, max_sum(cost, values + range.first, range.count));
    cost += range.count;
  }
  for (const PhraseGraph::Range& range : reach.open)
    for (Column c = range.first - closed; c < range.first - closed + range.count; ++c)
      best = std::max(best, *cost++ + open_weight_[c] + outside_[layer_after_[c] + *next++]);
  return best;
}

// One way to go on from a layer by an open column.
void PhraseRelaxation::push_open(Column c, Row next, double inside) {
  const Column open = c - static_cast<Column>(graph_.closed);
  double& place = inside_[layer_after_[open] + next];
  place = std::max(place, inside + open_weight_[open]);
}

void PhraseRelaxation::push_base(Row row, double inside) {
  const PhraseGraph::Node& node = graph_.nodes[row];
  const PhraseGraph::Reach& reach = graph_.reaches[node.reach];
  const double* cost = graph_.cost.get() + node.cost;
  for (const PhraseGraph::Range& range : reach.closed) {
    double* entered = entered_.data() + range.first;
    for (Index k = 0; k < range.count; ++k) entered[k] = std::max(entered[k], inside + cost[k]);
    cost += range.count;
  }
  const Row* next = graph_.next.data() + node.next;
  for (const PhraseGraph::Range& range : reach.open)
    for (Index k = 0; k < range.count; ++k) push_open(static_cast<Column>(range.first + k), *next++, inside + *cost++);
}

// Goes on from all rows of a layer, in the order of the recursion turned round.
void PhraseRelaxation::push_layer(Index n, std::uint32_t bits) {
  const double* layer = &inside_[find_layer(n, bits)];
  find_layers_after(n, bits);
  std::fill(entered_.begin(), entered_.end(), kNone64);
  for (const Row r : live_[n].bases) base_value_[r] = layer[r];
  for (const Row r : live_[n].others) {
    const PhraseGraph::Node& node = graph_.nodes[r];
    if (layer[r] == kNone64) continue;
    base_value_[node.base] = std::max(base_value_[node.base], layer[r] + node.backoff);
    const Row* next = graph_.next.data() + graph_.nodes[node.base].next;
    for (std::size_t k = node.arc_begin; k < node.arc_end; ++k) {
      const PhraseGraph::Arc& arc = graph_.arcs[k];
      if (arc.column < graph_.closed) entered_[arc.column] = std::max(entered_[arc.column], layer[r] + arc.cost);
      else push_open(arc.column, next[arc.place - graph_.reaches[node.reach].closed_count], layer[r] + arc.cost);
    }
  }
  for (const Row r : live_[n].bases)
    if (base_value_[r] != kNone64) push_base(r, base_value_[r]);
  for (Column c = 0; c < graph_.closed; ++c) {
    if (entered_[c] == kNone64 || (column_bits_[c] & bits) != 0) continue;
    const PhraseGraph::Phrases& one = graph_.phrases[c];
    double* after = &inside_[find_layer(n + one.end - one.begin, bits | column_bits_[c])];
    for (Index m = one.first; m < one.last; ++m) {
      const Option o = graph_.members[m];
      after[graph_.row_of[o]] = std::max(after[graph_.row_of[o]], entered_[c] + weight_[o]);
    }
  }
}

void PhraseRelaxation::prune(double least) {
  const Index length = graph_.problem().words();
  inside_.assign(outside_.size(), kNone64);
  inside_[find_layer(0, 0)] = 0;
  std::vector<char> alive(alive_.size(), 0);
  Heed heed;
  for (Index n = 0; n <= length; ++n)
    for (std::uint32_t bits = 0; bits < static_cast<std::uint32_t>(masks_); ++bits) {
      graph_.deadline().check();
      const std::size_t layer = find_layer(n, bits);
      for (const auto* rows : {&live_[n].bases, &live_[n].others})
        for (const Row r : *rows) {
          const bool keep =
              alive_[n * graph_.rows() + r] && inside_[layer + r] + outside_[layer + r] + offset_ >= least;
          if (keep) alive[n * graph_.rows() + r] = 1;
          else inside_[layer + r] = kNone64;
        }
      if (n < length) push_layer(n, bits);
      heed(static_cast<Index>(100 * live_[n].bases.size() + 10 * live_[n].others.size()) + graph_.columns());
    }
  std::vector<double>().swap(inside_);
  for (Index n = 0; n <= length; ++n)
    for (std::uint32_t bits = 0; bits < static_cast<std::uint32_t>(masks_); ++bits) {
      const char* keep = alive.data() + n * graph_.rows();
      double* layer = &outside_[find_layer(n, bits)];
      for (Row r = 0; r < graph_.rows(); ++r) layer[r] = keep[r] ? layer[r] : kNone64;
    }
  list_live(std::move(alive));
}

void PhraseRelaxation::offer(Choice& best, double cost, Column c, Row next, Index n, std::uint32_t bits) const {
  if ((column_bits_[c] & bits) != 0) return;
  const PhraseGraph::Phrases& one = graph_.phrases[c];
  const std::size_t layer = find_layer(n + one.end - one.begin, bits | column_bits_[c]);
  for (Index m = one.first; m < one.last; ++m) {
    const Option o = graph_.members[m];
    const Row row = c < graph_.closed ? graph_.row_of[o] : next;
    const double value = cost + weight_[o] + outside_[layer + row];
    if (value > best.value) best = {value, o, row};
  }
}

PhraseRelaxation::Choice PhraseRelaxation::choose(Index n, std::uint32_t bits, Row row) const {
  Choice best{kNone64, -1, -1};
  const PhraseGraph::Node& node = graph_.nodes[row];
  const PhraseGraph::Node& base = graph_.nodes[node.base];
  const PhraseGraph::Reach& reach = graph_.reaches[node.reach];
  const auto find_next = [&](Index place) {
    return place < reach.closed_count ? Row{-1} : graph_.next[base.next + place - reach.closed_count];
  };
  for (std::size_t k = node.arc_begin; k < node.arc_end; ++k)
    offer(best, graph_.arcs[k].cost, graph_.arcs[k].column, find_next(graph_.arcs[k].place), n, bits);
  Index place = 0;
  for (const auto* ranges : {&reach.closed, &reach.open})
    for (const PhraseGraph::Range& range : *ranges)
      for (Column c = range.first; c < range.first + range.count; ++c, ++place)
        offer(best, node.backoff + graph_.cost[base.cost + place], c, find_next(place), n, bits);
  return best;
}

std::vector<Option> PhraseRelaxation::find_path() const {
  std::vector<Option> path;
  const PhraseOptions& options = graph_.problem().options();
  Row row = 0;
  std::uint32_t bits = 0;
  for (Index n = 0; n < graph_.problem().words();) {
    const Choice best = choose(n, bits, row);
    if (best.option < 0) return {};
    path.push_back(best.option);
    n += options.end[best.option] - options.begin[best.option];
    bits |= find_bits(options.begin[best.option], options.end[best.option]);
    row = best.row;
  }
  return path;
}

}  // namespace certus::translate
