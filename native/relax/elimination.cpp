#include "relax/elimination.hpp"

#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "base/interrupt.hpp"

namespace certus::relax {
namespace {

using Sorted = std::vector<Index>;

double count_entries(const std::vector<Index>& states, const Sorted& variables) {
  double entries = 1;
  for (const Index v : variables) entries *= static_cast<double>(states[v]);
  return entries;
}

void join(Sorted& into, const Sorted& other, Sorted& scratch) {
  scratch.clear();
  std::set_union(into.begin(), into.end(), other.begin(), other.end(), std::back_inserter(scratch));
  into.swap(scratch);
}

void remove(Sorted& from, Index v) {
  const auto at = std::lower_bound(from.begin(), from.end(), v);
  if (at != from.end() && *at == v) from.erase(at);
}

// One table on the way: which variable is maximised out of which tables, and what was best.
class Step {
 public:
  Step(const std::vector<Index>& states, Index variable, const std::vector<Scope>& scopes)
      : states_(states), variable_(variable) {
    Sorted scratch;
    for (const Scope& scope : scopes) {
      Sorted own = scope.variables;
      std::sort(own.begin(), own.end());
      join(others_, own, scratch);
    }
    remove(others_, variable);
  }

  // The best score over the variable, by the states of the others.
  Scope maximize(const std::vector<Scope>& scopes, Heed& heed) {
    const Index rows = static_cast<Index>(count_entries(states_, others_)), width = states_[variable_];
    const std::size_t count = scopes.size(), axes = others_.size();
    // strides[scopes][axes + 1]: how far apart two states of another variable are in a table, and of this one.
    std::vector<Index> strides(count * (axes + 1), 0), at(count, 0), place(axes, 0);
    for (std::size_t s = 0; s < count; ++s) {
      Index stride = 1;
      for (std::size_t i = scopes[s].variables.size(); i-- > 0;) {
        strides[s * (axes + 1) + find_axis(scopes[s].variables[i])] = stride;
        stride *= states_[scopes[s].variables[i]];
      }
    }
    Scope best{others_, std::vector<double>(rows)};
    choice_.resize(rows);
    std::vector<double> sums(width);
    for (Index row = 0; row < rows; ++row) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t s = 0; s < count; ++s) {
        const double* from = scopes[s].scores.data() + at[s];
        const Index stride = strides[s * (axes + 1) + axes];
        for (Index state = 0; state < width; ++state) sums[state] += from[state * stride];
      }
      const auto most = std::max_element(sums.begin(), sums.end());
      best.scores[row] = *most;
      choice_[row] = static_cast<Label>(most - sums.begin());
      for (std::size_t axis = axes; axis-- > 0;) {
        const bool more = ++place[axis] < states_[others_[axis]];
        for (std::size_t s = 0; s < count; ++s)
          at[s] += strides[s * (axes + 1) + axis] * (more ? 1 : 1 - states_[others_[axis]]);
        if (more) break;
        place[axis] = 0;
      }
      heed(width * static_cast<Index>(count));
    }
    return best;
  }

  // Sets the variable to what is best where the others are as given.
  void choose(std::vector<Index>& found) const {
    Index row = 0;
    for (const Index v : others_) row = row * states_[v] + found[v];
    found[variable_] = choice_[row];
  }

 private:
  std::size_t find_axis(Index v) const {
    return v == variable_ ? others_.size() : std::lower_bound(others_.begin(), others_.end(), v) - others_.begin();
  }

  const std::vector<Index>& states_;
  Index variable_;
  Sorted others_;
  std::vector<Label> choice_;  // by the states of the others
};

}  // namespace

EliminationOrder find_order(const std::vector<Index>& states, const std::vector<std::vector<Index>>& scopes,
                            double most) {
  const Index count = static_cast<Index>(states.size());
  std::vector<Sorted> around(count);  // and the variable itself
  for (Index v = 0; v < count; ++v) around[v] = {v};
  Sorted scratch;
  for (const std::vector<Index>& scope : scopes) {
    if (count_entries(states, scope) > most) return {{}, -kNever<double>};
    Sorted own = scope;
    std::sort(own.begin(), own.end());
    for (const Index v : own) join(around[v], own, scratch);
  }
  using Entry = std::pair<double, Index>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
  std::vector<double> size(count);
  const auto measure = [&](Index v) { next.push({size[v] = count_entries(states, around[v]), v}); };
  for (Index v = 0; v < count; ++v) measure(v);
  EliminationOrder order;
  while (!next.empty()) {
    const auto [entries, v] = next.top();
    next.pop();
    if (entries != size[v]) continue;  // measured again, or done
    order.entries += entries;
    if (order.entries > most) return {{}, -kNever<double>};
    order.variables.push_back(v);
    size[v] = 0;
    remove(around[v], v);
    for (const Index other : around[v]) {
      join(around[other], around[v], scratch);
      remove(around[other], v);
      measure(other);
    }
  }
  return order;
}

std::vector<Index> eliminate(const std::vector<Index>& states, std::vector<Scope> scopes,
                             const std::vector<Index>& order) {
  const Index count = static_cast<Index>(states.size());
  std::vector<Index> place(count), found(count, 0);
  for (Index i = 0; i < count; ++i) place[order[i]] = i;
  std::vector<std::vector<Scope>> waiting(count);  // by place, for the first of their variables
  const auto put = [&](Scope&& scope) {
    Index first = count;
    for (const Index v : scope.variables) first = std::min(first, place[v]);
    waiting[first].push_back(std::move(scope));
  };
  for (Scope& scope : scopes) put(std::move(scope));
  std::vector<Step> steps;
  Heed heed;
  for (Index i = 0; i < count; ++i) {
    steps.emplace_back(states, order[i], waiting[i]);
    Scope best = steps.back().maximize(waiting[i], heed);
    waiting[i].clear();
    if (!best.variables.empty()) put(std::move(best));
    else if (best.scores[0] == kNever<double>) return {};
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) step->choose(found);
  return found;
}

}  // namespace certus::relax
