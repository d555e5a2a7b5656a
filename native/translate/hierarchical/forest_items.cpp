#include "translate/hierarchical/forest_items.hpp"

#include "base/conclusion.hpp"

namespace certus::translate {

ItemTable::Slot& ItemTable::find(std::uint64_t key) {
  if (2 * used_ >= slots_.size()) {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(2 * old.size(), Slot{});
    for (const Slot& slot : old)
      if (slot.head >= 0)
        slots_[find_slot(hashing::spread(slot.key), slots_.size() - 1,
                         [&](std::size_t i) { return slots_[i].head < 0; })] = slot;
  }
  return slots_[find_slot(hashing::spread(key), slots_.size() - 1,
                          [&](std::size_t i) { return slots_[i].head < 0 || slots_[i].key == key; })];
}

void ItemTable::put(std::size_t at, const Item& item, std::span<const ItemId> parts) {
  const std::int32_t next = items[at].next;
  items[at] = item;
  items[at].next = next;
  items[at].tails = static_cast<std::uint32_t>(tails.size());
  tails.insert(tails.end(), parts.begin(), parts.end());
}

void ItemTable::add(const Item& item, std::span<const ItemId> parts) {
  const std::uint64_t key = std::uint64_t{item.piece.left} << 32 | item.piece.right;
  Slot& slot = find(key);
  std::int32_t worst = -1;
  for (std::int32_t at = slot.head; at >= 0; at = items[at].next) {
    if (distinct_ && items[at].text.value == item.text.value) {
      if (item.piece.score > items[at].piece.score) put(at, item, parts);
      return;
    }
    if (worst < 0 || items[at].piece.score < items[worst].piece.score) worst = at;
  }
  if (slot.count >= k_) {
    if (item.piece.score > items[worst].piece.score) put(worst, item, parts);
    return;
  }
  if (slot.head < 0) ++used_, slot.key = key;
  items.push_back(item);
  items.back().next = slot.head;
  slot.head = static_cast<std::int32_t>(items.size()) - 1;
  ++slot.count;
  put(slot.head, item, parts);
}

double ItemChart::take(ItemTable& table, Index width) {
  std::vector<Item>& made = table.items;
  double dropped = kNever<double>;
  if (static_cast<Index>(made.size()) > width) {
    std::ranges::nth_element(made, made.begin() + width,
                             [](const Item& a, const Item& b) { return a.whole > b.whole; });
    dropped = made[width].whole;
    made.resize(width);
  }
  std::ranges::stable_sort(made, [](const Item& a, const Item& b) { return a.value > b.value; });
  const std::size_t base = tails.size();
  tails.insert(tails.end(), table.tails.begin(), table.tails.end());
  for (Item& item : made) item.tails += static_cast<std::uint32_t>(base);
  items.insert(items.end(), made.begin(), made.end());
  first.push_back(static_cast<Index>(items.size()));
  table.clear();
  return dropped;
}

void ItemChart::list_edges(ItemId item, const TargetForest& forest, std::vector<Edge>& edges) const {
  std::vector<ItemId> open{item};
  while (!open.empty()) {
    const Item& next = items[open.back()];
    open.pop_back();
    edges.push_back(next.edge);
    const Index count = std::ranges::count_if(forest.list_symbols(next.edge), is_node);
    for (Index i = count; i-- > 0;) open.push_back(tails[next.tails + i]);
  }
}

Item ItemMaker::make(const ItemChart& chart, Index head, Index edge, std::span<const ItemId> parts) {
  const std::span<const Symbol> symbols = problem_.forest.list_symbols(edge);
  if (reads_start(starts_, head, symbols)) {
    joiner_.begin(problem_.forest.score[edge]);
  } else {
    joiner_.clear(problem_.forest.score[edge]);
  }
  Item item{};
  std::size_t next = 0;
  for (const Symbol symbol : symbols) {
    if (is_node(symbol)) {
      const Item& part = chart.items[parts[next++]];
      joiner_.add(part.piece);
      item.text.add(part.text);
    } else {
      joiner_.add(static_cast<Word>(symbol));
      item.text.add(static_cast<Word>(symbol));
    }
  }
  item.piece = joiner_.finish();
  item.value = item.piece.score + lefts_.bound(item.piece.left);
  item.whole = item.value;
  item.edge = static_cast<Edge>(edge);
  return item;
}

void ForestIncumbents::add(Entry entry) {
  for (Entry& old : best_) {
    if (distinct_ ? old.text != entry.text : old.derivation.edges != entry.derivation.edges) continue;
    if (entry.derivation.score > old.derivation.score) old = std::move(entry);
    std::ranges::stable_sort(best_,
                             [](const Entry& a, const Entry& b) { return a.derivation.score > b.derivation.score; });
    return;
  }
  const auto at =
      std::ranges::find_if(best_, [&](const Entry& old) { return old.derivation.score < entry.derivation.score; });
  best_.insert(at, std::move(entry));
  if (static_cast<Index>(best_.size()) > k_) best_.pop_back();
}

void ForestIncumbents::add_goal(const ForestProblem& problem, const ItemChart& chart, ItemMaker& maker) {
  const Index goal = problem.forest.goal;
  std::vector<std::pair<double, ItemId>> whole;
  for (Index i = chart.first[goal]; i < chart.first[goal + 1]; ++i) {
    const double score = maker.finish(chart.items[i].piece);
    if (score > kNever<double>) whole.emplace_back(-score, static_cast<ItemId>(i));
  }
  std::ranges::sort(whole);
  if (static_cast<Index>(whole.size()) > 2 * k_ + 8) whole.resize(2 * k_ + 8);
  for (const auto& [cost, item] : whole) {
    if (-cost < threshold()) break;
    std::vector<Edge> edges;
    chart.list_edges(item, problem.forest, edges);
    add(problem, std::move(edges), chart.items[item].text.value);
  }
}

void ForestIncumbents::add(const ForestProblem& problem, std::vector<Edge> edges, std::uint64_t text) {
  const double score = score_derivation(problem, edges);
  for (Edge& edge : edges) edge = problem.forest.origin[edge];
  if (score > kNever<double>) add({{std::move(edges), score}, text});
}

void ForestIncumbents::settle(double unseen, ForestAnswer& answer) {
  const bool full = static_cast<Index>(best_.size()) >= k_;
  answer.best.clear();
  for (Entry& entry : best_) answer.best.push_back(entry.derivation);
  answer.exhausted = unseen == kNever<double> && !full;
  const double last = best_.empty() || (!full && !answer.exhausted) ? kNever<double> : answer.best.back().score;
  const Conclusion concluded = conclude(last, unseen, last == kNever<double> ? 0 : find_forest_margin(last));
  answer.status = concluded.status;
  answer.bound = concluded.bound;
}

double score_derivation(const ForestProblem& problem, const std::vector<Edge>& sorted_edges) {
  double rules = 0, words = 0;
  for (const Edge edge : sorted_edges) rules += problem.forest.score[edge];
  State state = problem.model->begin();
  const auto read = [&](Word word) {
    const Step step = problem.model->automaton().advance(state, word);
    words += step.score;
    state = step.state;
  };
  visit_words(problem.forest, sorted_edges, [&](Index i) { read(static_cast<Word>(problem.forest.symbols[i])); });
  read(kEnd);
  return rules + problem.weigh(words);
}

}  // namespace certus::translate
