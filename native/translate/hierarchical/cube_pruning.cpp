// Cube pruning (Chiang 2007, figure 9): for each node, the best of the grids of its edges, whose axes are the items of
// the nodes on their right-hand sides. It proves nothing, since an item that was not looked at may have become the
// best.
#include <queue>

#include "base/interrupt.hpp"
#include "translate/hierarchical/forest_bounds.hpp"
#include "translate/hierarchical/forest_items.hpp"

namespace certus::translate {
namespace {

struct Cell {
  Item item;
  std::vector<ItemId> parts;
};

class CubePruning {
 public:
  CubePruning(const ForestProblem& problem, const ForestOptions& options)
      : problem_(problem),
        options_(options),
        lefts_(*problem.model, problem.weight),
        maker_(problem, lefts_),
        table_(options.k, options.distinct),
        chart_(problem.forest.nodes) {}

  void run(ForestIncumbents& found, ForestAnswer& answer) {
    for (Index v = 0; v < problem_.forest.nodes; ++v) make_node(v);
    found.add_goal(problem_, chart_, maker_);
    answer.items += static_cast<Index>(chart_.items.size());
    answer.joined += joined_;
  }
  bool is_complete() const { return complete_; }

 private:
  void make_node(Index v) {
    node_ = v;
    heap_.clear();
    const TargetForest& forest = problem_.forest;
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) start(e);
    for (Index n = 0; n < options_.width && !heap_.empty(); ++n) {
      std::ranges::pop_heap(heap_, is_worse);
      const Cell cell = std::move(heap_.back());
      heap_.pop_back();
      table_.add(cell.item, cell.parts);
      step(cell);
    }
    complete_ &= heap_.empty();
    chart_.take(table_, std::numeric_limits<Index>::max());
  }
  static bool is_worse(const Cell& a, const Cell& b) { return a.item.value < b.item.value; }

  void start(Index e) {
    std::vector<ItemId> parts;
    for (const Symbol symbol : problem_.forest.list_symbols(e)) {
      if (!is_node(symbol)) continue;
      if (chart_.list(~symbol).empty()) return;
      parts.push_back(static_cast<ItemId>(chart_.first[~symbol]));
    }
    push(e, std::move(parts));
  }
  // Goes on to the neighbours of a cell; each is reached once, along the last axis that is not at its beginning.
  void step(const Cell& cell) {
    std::vector<Index> ends;
    std::size_t last = 0, axis = 0;
    for (const Symbol symbol : problem_.forest.list_symbols(cell.item.edge)) {
      if (!is_node(symbol)) continue;
      ends.push_back(chart_.first[~symbol + 1]);
      if (cell.parts[axis] != chart_.first[~symbol]) last = axis;
      ++axis;
    }
    for (axis = last; axis < ends.size(); ++axis) {
      if (cell.parts[axis] + 1 >= ends[axis]) continue;
      std::vector<ItemId> parts = cell.parts;
      ++parts[axis];
      push(cell.item.edge, std::move(parts));
    }
  }
  void push(Index e, std::vector<ItemId> parts) {
    Item item = maker_.make(chart_, node_, e, parts);
    ++joined_;
    heed_(200);
    if (item.value == kNever<double>) return;
    heap_.push_back({item, std::move(parts)});
    std::ranges::push_heap(heap_, is_worse);
  }

  const ForestProblem& problem_;
  const ForestOptions& options_;
  LeftTable lefts_;
  ItemMaker maker_;
  ItemTable table_;
  ItemChart chart_;
  std::vector<Cell> heap_;
  bool complete_ = true;
  Index node_ = 0, joined_ = 0;
  Heed heed_;
};

ForestAnswer search_grid(const ForestProblem& problem, const ForestOptions& options) {
  ForestAnswer answer;
  ForestIncumbents found(options);
  const Stopwatch watch;
  CubePruning search(problem, options);
  search.run(found, answer);
  answer.beam_seconds = watch.elapsed();
  double unseen = kNever<double>;
  if (!search.is_complete()) {
    const ForestBounds bounds = bound_forest(problem);
    unseen = bounds.inside[problem.forest.goal] + bounds.outside[problem.forest.goal];
    answer.relaxation_seconds = watch.elapsed() - answer.beam_seconds;
  }
  answer.beams = 1;
  found.settle(unseen, answer);
  return answer;
}

}  // namespace

ForestAnswer search_cubes(const ForestProblem& problem, const ForestOptions& options) {
  return search_grid(problem, options);
}

void find_incumbents(const ForestProblem& problem, const ForestOptions& options, ForestIncumbents& found,
                     ForestAnswer& answer) {
  ForestOptions few = options;
  few.width = std::max(Index{30}, options.k);
  CubePruning(problem, few).run(found, answer);
}

}  // namespace certus::translate
