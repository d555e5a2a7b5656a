#include "translate/hierarchical/context_search.hpp"

namespace certus::translate {

ContextSearch::ContextSearch(const TargetForest& forest, const LeafGraph& graph, const NeighbourScores& scores,
                             const WordPartition& partition, const LeafChoices& choices, const SearchLimits& limits)
    : forest_(forest), graph_(graph), scores_(scores), partition_(partition), choices_(choices), limits_(limits) {}

double ContextSearch::run(const std::vector<double>& weight, const ForestBounds& bounds, double threshold,
                          std::vector<Edge>& edges) {
  weight_ = &weight;
  bounds_ = &bounds;
  threshold_ = threshold;
  edges.clear();
  items_.clear();
  known_.clear();
  wanted_place_.clear();
  wanted_.clear();
  agenda_ = {};
  const Opening start = scores_.start();
  want(forest_.goal, partition_.advance(partition_.advance(0, start), start));
  while (!agenda_.empty()) {
    const auto [value, id] = agenda_.top();
    agenda_.pop();
    if (items_[id].is_taken) continue;
    items_[id].is_taken = true;
    const bool is_goal = items_[id].symbol < 0 && items_[id].node == forest_.goal;
    if (is_goal) list_edges(id, edges);
    if (is_goal || must_stop()) return value;
    take(id);
    heed_(200);
  }
  return threshold;
}

bool ContextSearch::must_stop() {
  return static_cast<Index>(items_.size()) > limits_.items ||
         (++taken_ % 1024 == 0 && limits_.watch.elapsed() > limits_.seconds);
}

ContextSearch::Wanted& ContextSearch::want(Index node, Index context) {
  std::int32_t& place = wanted_place_.find(static_cast<std::uint64_t>(node * partition_.contexts() + context));
  if (place >= 0) return wanted_[place];
  place = static_cast<std::int32_t>(wanted_.size());
  const std::int32_t made = place;
  wanted_.emplace_back();
  for (Index e = forest_.edge_first[node]; e < forest_.edge_first[node + 1]; ++e)
    read({(*weight_)[e], node, forest_.symbol_first[e], context, context, static_cast<Edge>(e), -1, -1});
  return wanted_[made];
}

void ContextSearch::take(ItemId id) {
  const Item item = items_[id];
  if (item.symbol < 0) {
    Wanted& wanted = want(item.node, item.before);
    wanted.nodes.push_back(id);
    for (const ItemId reader : wanted.readers) join(reader, id);
  } else {
    Wanted& wanted = want(~forest_.symbols[item.symbol], item.after);
    wanted.readers.push_back(id);
    for (const ItemId node : wanted.nodes) join(id, node);
  }
}

void ContextSearch::join(ItemId reader, ItemId node) {
  Item made = items_[reader];
  made.value += items_[node].value;
  made.after = items_[node].after;
  made.left = reader;
  made.right = node;
  ++made.symbol;
  made.is_taken = false;
  read(made);
}

void ContextSearch::read(Item item) {
  const Index end = forest_.symbol_first[item.edge + 1];
  for (; item.symbol < end && !is_node(forest_.symbols[item.symbol]); ++item.symbol) {
    item.value += choices_.find(graph_.leaf_at[item.symbol], item.after).value;
    item.after = partition_.advance(item.after, scores_.number(static_cast<Word>(forest_.symbols[item.symbol])));
  }
  if (item.symbol == end) item.symbol = -1;
  put(item);
}

// The most that what is not part of an item adds to it.
double ContextSearch::bound_rest(const Item& item) const {
  if (item.symbol < 0) return item.node == forest_.goal ? choices_.find_end(item.after) : bounds_->outside[item.node];
  double rest = bounds_->outside[item.node];
  for (Index i = item.symbol; i < forest_.symbol_first[item.edge + 1]; ++i) {
    const Symbol symbol = forest_.symbols[i];
    rest += is_node(symbol) ? bounds_->inside[~symbol] : choices_.find_best(graph_.leaf_at[i]);
  }
  return rest;
}

void ContextSearch::put(const Item& item) {
  const double whole = item.value + bound_rest(item);
  if (!(whole >= threshold_) || whole == kNever<double>) return;
  const Index what = item.symbol < 0 ? item.node : forest_.nodes + item.symbol;
  const Index contexts = partition_.contexts();
  ItemId& known = known_.find(static_cast<std::uint64_t>((what * contexts + item.before) * contexts + item.after));
  if (known < 0) {
    known = static_cast<ItemId>(items_.size());
    items_.push_back(item);
  } else if (items_[known].is_taken || item.value <= items_[known].value) {
    return;
  } else {
    items_[known] = item;
  }
  agenda_.emplace(whole, known);
}

void ContextSearch::list_edges(ItemId id, std::vector<Edge>& edges) const {
  std::vector<ItemId> open{id};
  while (!open.empty()) {
    id = open.back();
    open.pop_back();
    edges.push_back(items_[id].edge);
    for (; items_[id].right >= 0; id = items_[id].left) open.push_back(items_[id].right);
  }
}

}  // namespace certus::translate
