#include "translate/hierarchical/leaf_program.hpp"

#include <stdexcept>
#include <unordered_map>

#include "translate/hierarchical/forest_bounds.hpp"
#include "translate/hierarchical/forest_items.hpp"
#include "translate/hierarchical/leaf_graph.hpp"

namespace certus::translate {
namespace {

class ProgramMaker {
 public:
  ProgramMaker(const ForestProblem& problem, Index most)
      : problem_(problem), automaton_(problem.model->automaton()), graph_(problem.forest), most_(most) {}

  ForestProgram run() {
    const TargetForest& forest = problem_.forest;
    made_.edges = forest.edges();
    // Rows: nodes, then steps, then events with states as they are met.
    made_.target.assign(forest.nodes + static_cast<Index>(graph_.from.size()), 0);
    made_.target[forest.goal] = 1;
    for (Index v = 0; v < forest.nodes; ++v)
      for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) add_edge(v, e);
    list_leaving();
    made_.target[find_row(LeafGraph::enter(forest.goal), problem_.model->begin())] = 1;
    while (!open_.empty()) {
      const auto [event, state, row] = open_.back();
      open_.pop_back();
      for (Index i = leaving_first_[event]; i < leaving_first_[event + 1]; ++i) add_flow(leaving_[i], state, row);
      if (event == LeafGraph::leave(forest.goal)) {
        put(row, 1);
        finish(problem_.weigh(automaton_.advance(state, kEnd).score));
      }
    }
    made_.start.insert(made_.start.begin(), 0);
    return std::move(made_);
  }

 private:
  struct Open {
    Index event;
    State state;
    Index row;
  };

  void put(Index row, double value) {
    made_.row.push_back(static_cast<std::int32_t>(row));
    made_.value.push_back(value);
  }
  void finish(double cost) {
    made_.cost.push_back(cost > kNever<double> ? cost : 0);
    made_.upper.push_back(cost > kNever<double> ? 1 : 0);
    made_.start.push_back(static_cast<std::int32_t>(made_.row.size()));
    if (static_cast<Index>(made_.cost.size()) > most_)
      throw std::invalid_argument("the integer program would be too large; use coarse-to-fine, or raise its limit");
  }
  // Rows of a column must differ: counts of nodes and steps that an edge has twice are added up.
  void add_edge(Index head, Index e) {
    std::unordered_map<Index, double> rows;
    rows[head] += 1;
    for (const Symbol symbol : problem_.forest.list_symbols(e))
      if (is_node(symbol)) rows[~symbol] -= 1;
    for (Index i = graph_.step_first[e]; i < graph_.step_first[e + 1]; ++i)
      rows[problem_.forest.nodes + graph_.steps[i]] -= 1;
    for (const auto& [row, value] : rows) put(row, value);
    finish(problem_.forest.score[e]);
  }
  void add_flow(Index step, State state, Index row) {
    const Index to = graph_.to[step];
    double cost = 0;
    put(row, 1);
    put(problem_.forest.nodes + step, 1);
    if (graph_.is_leaf(to)) {
      const Step read = automaton_.advance(state, graph_.leaf[graph_.find_leaf(to)]);
      put(find_row(to + 1, read.state), -1);
      cost = problem_.weigh(read.score);
    } else {
      put(find_row(to, state), -1);
    }
    finish(cost);
  }
  Index find_row(Index event, State state) {
    const std::uint64_t key = static_cast<std::uint64_t>(event) << 32 | state;
    const auto [place, is_new] = rows_.try_emplace(key, static_cast<Index>(made_.target.size()));
    if (is_new) {
      made_.target.push_back(0);
      open_.push_back({event, state, place->second});
    }
    return place->second;
  }
  void list_leaving() {
    const Index events = 2 * (graph_.nodes + graph_.leaves());
    leaving_first_.assign(events + 1, 0);
    for (const Index event : graph_.from) ++leaving_first_[event + 1];
    for (Index event = 0; event < events; ++event) leaving_first_[event + 1] += leaving_first_[event];
    leaving_.resize(graph_.from.size());
    std::vector<Index> place(leaving_first_.begin(), leaving_first_.end() - 1);
    for (std::size_t s = 0; s < graph_.from.size(); ++s) leaving_[place[graph_.from[s]]++] = static_cast<Index>(s);
  }

  const ForestProblem& problem_;
  const Automaton& automaton_;
  LeafGraph graph_;
  Index most_;
  ForestProgram made_;
  std::unordered_map<std::uint64_t, Index> rows_;
  std::vector<Open> open_;
  std::vector<Index> leaving_first_, leaving_;  // steps by the event that they lead from
};

// Whether the parts of an edge may have a node in common, so that a derivation may have it twice.
bool has_twice(const TargetForest& forest) {
  std::vector<std::vector<char>> below(forest.nodes, std::vector<char>(forest.nodes));
  std::vector<char> parts(forest.nodes);
  for (Index v = 0; v < forest.nodes; ++v) {
    below[v][v] = 1;
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      parts.assign(forest.nodes, 0);
      for (const Symbol symbol : forest.list_symbols(e)) {
        if (!is_node(symbol)) continue;
        for (Index u = 0; u < v; ++u) {
          if (parts[u] && below[~symbol][u]) return true;
          parts[u] |= below[~symbol][u];
        }
      }
      for (Index u = 0; u < v; ++u) below[v][u] |= parts[u];
    }
  }
  return false;
}

// Lists the chosen edges from a node down, those on the left first. Returns whether each node has one.
bool list_chosen(const TargetForest& forest, const std::vector<char>& chosen, Index node, std::vector<Edge>& edges) {
  for (Index e = forest.edge_first[node]; e < forest.edge_first[node + 1]; ++e) {
    if (!chosen[e]) continue;
    edges.push_back(static_cast<Edge>(e));
    for (const Symbol symbol : forest.list_symbols(e))
      if (is_node(symbol) && !list_chosen(forest, chosen, ~symbol, edges)) return false;
    return true;
  }
  return false;
}

}  // namespace

ForestProgram make_program(const ForestProblem& problem, Index most) {
  if (derives_nothing(problem.forest))
    throw std::invalid_argument("ilp needs forests in which everything derives words; use optimal-beam");
  if (has_twice(problem.forest))
    throw std::invalid_argument("ilp needs forests in which no derivation has a node twice; use coarse-to-fine");
  return ProgramMaker(problem, most).run();
}

ForestAnswer judge_program(const ForestProblem& problem, const std::vector<char>& chosen, bool is_best, double bound) {
  ForestAnswer answer;
  ForestIncumbents found(ForestOptions{});
  std::vector<Edge> edges;
  if (list_chosen(problem.forest, chosen, problem.forest.goal, edges)) found.add(problem, std::move(edges), 0);
  if (!is_best) {
    const ForestBounds bounds = bound_forest(problem);
    bound = std::min(bound, bounds.inside[problem.forest.goal] + bounds.outside[problem.forest.goal]);
  }
  found.settle(is_best ? found.lower() : bound, answer);
  return answer;
}

}  // namespace certus::translate
