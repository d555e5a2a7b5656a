#include "relax/factor_graph.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "relax/parts/table.hpp"

namespace certus::relax {
namespace {

constexpr double kMerged = 64;  // entries of a table that stands for several parts

}  // namespace

FactorGraph::FactorGraph(std::vector<double> scores, std::vector<GraphVariable> variables)
    : scores_(std::move(scores)),
      variables_(std::move(variables)),
      owner_(scores_.size()),
      states_(variables_.size()),
      is_taken_(scores_.size(), 0) {
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    states_[v] = variables_[v].states;
    std::fill_n(owner_.begin() + variables_[v].cell, variables_[v].cells(), static_cast<Index>(v));
  }
}

std::vector<double> FactorGraph::take_scores(const std::vector<Index>& cells) {
  std::vector<double> own;
  own.reserve(cells.size());
  for (const Index cell : cells) {
    own.push_back(is_taken_[cell] ? 0.0 : scores_[cell]);
    is_taken_[cell] = 1;
  }
  return own;
}

void FactorGraph::add(std::shared_ptr<Part> part, std::vector<Index> cells) {
  factors_.push_back({std::move(part), std::move(cells)});
}

std::vector<Index> FactorGraph::list_variables(const std::vector<Index>& cells) const {
  std::vector<Index> variables(cells.size());
  std::transform(cells.begin(), cells.end(), variables.begin(), [this](Index cell) { return owner_[cell]; });
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  return variables;
}

bool FactorGraph::covers_variables(const std::vector<Index>& cells) const {
  Index count = 0;
  for (const Index v : list_variables(cells)) count += variables_[v].cells();
  return count == static_cast<Index>(cells.size());
}

// states[variables]: of all of them.
double FactorGraph::score(const Factor& factor, const std::vector<Index>& states) const {
  std::vector<Index> used;
  for (std::size_t c = 0; c < factor.cells.size(); ++c) {
    const GraphVariable& v = variables_[owner_[factor.cells[c]]];
    const Index state = states[owner_[factor.cells[c]]];
    if (v.binary ? state == 1 : v.cell + state == factor.cells[c]) used.push_back(static_cast<Index>(c));
  }
  double score = kNever<double>;
  factor.part->complete(used, &score);
  return score;
}

std::vector<double> FactorGraph::fill_table(const Factor& factor, const std::vector<Index>& variables) const {
  std::vector<double> table;
  std::vector<Index> states(variables_.size(), 0);
  for (bool more = true; more;) {
    table.push_back(score(factor, states));
    more = false;
    for (std::size_t i = variables.size(); i-- > 0 && !more;) {
      more = ++states[variables[i]] < states_[variables[i]];
      if (!more) states[variables[i]] = 0;
    }
  }
  return table;
}

FactorGraph::Factor FactorGraph::join(const std::vector<Index>& factors) const {
  const std::vector<Index> variables = list_variables(factors_[factors.front()].cells);
  std::vector<Index> shape, cells;
  std::vector<std::uint8_t> single;
  for (const Index v : variables) {
    shape.push_back(states_[v]);
    single.push_back(variables_[v].binary);
    for (Index c = 0; c < variables_[v].cells(); ++c) cells.push_back(variables_[v].cell + c);
  }
  std::vector<double> sum = fill_table(factors_[factors.front()], variables);
  for (std::size_t i = 1; i < factors.size(); ++i) {
    const std::vector<double> table = fill_table(factors_[factors[i]], variables);
    for (std::size_t entry = 0; entry < sum.size(); ++entry) sum[entry] += table[entry];
  }
  const std::vector<double> none(cells.size(), 0.0);
  return {std::make_shared<TablePart>(std::move(shape), std::move(single), std::move(sum), none), std::move(cells)};
}

void FactorGraph::merge() {
  std::map<std::vector<Index>, std::vector<Index>> alike;  // by cells in rising order
  for (Index f = 0; f < parts(); ++f) {
    std::vector<Index> cells = factors_[f].cells;
    std::sort(cells.begin(), cells.end());
    alike[std::move(cells)].push_back(f);
  }
  std::vector<std::uint8_t> is_gone(factors_.size(), 0);
  for (const auto& [cells, factors] : alike) {
    double entries = 1;
    for (const Index v : list_variables(cells)) entries *= static_cast<double>(states_[v]);
    if (factors.size() < 2 || entries > kMerged || !covers_variables(cells)) continue;
    factors_[factors.front()] = join(factors);
    for (std::size_t i = 1; i < factors.size(); ++i) is_gone[factors[i]] = 1;
  }
  std::size_t kept = 0;
  for (std::size_t f = 0; f < factors_.size(); ++f)
    if (!is_gone[f]) std::swap(factors_[kept++], factors_[f]);
  factors_.resize(kept);
}

EliminationOrder FactorGraph::find_order(double most) const {
  std::vector<std::vector<Index>> scopes;
  scopes.reserve(factors_.size());
  for (const Factor& factor : factors_) scopes.push_back(list_variables(factor.cells));
  return relax::find_order(states_, scopes, most);
}

FactorGraph::Best FactorGraph::eliminate(double most) const {
  const EliminationOrder order = find_order(most);
  std::vector<Scope> scopes;
  for (const Factor& factor : factors_) {
    std::vector<Index> variables = list_variables(factor.cells);
    std::vector<double> table = fill_table(factor, variables);
    scopes.push_back({std::move(variables), std::move(table)});
  }
  Best best{relax::eliminate(states_, std::move(scopes), order.variables), 0};
  if (best.states.empty()) return {};
  for (const Factor& factor : factors_) best.score += score(factor, best.states);
  return best;
}

}  // namespace certus::relax
