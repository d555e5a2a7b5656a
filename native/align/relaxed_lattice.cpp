#include "align/relaxed_lattice.hpp"

#include <algorithm>
#include <cmath>

namespace certus::align {
namespace {

constexpr Index kAbove = -1, kBelow = 1;

std::vector<RelaxedLattice::State> list_states(bool is_full) {
  if (is_full) return {{0, {false, true, false}, 1}};
  std::vector<RelaxedLattice::State> states;
  for (const Index vertical : {Index{0}, kAbove, kBelow})  // with its link here, a state has it in its row, too
    for (const bool left : {false, true})
      for (const bool right : {false, true})
        states.push_back({vertical, {left, vertical == 0, right}, left + right + (vertical == 0)});
  return states;
}

}  // namespace

RelaxedLattice::RelaxedLattice(const Agreed& problem)
    : problem_(problem),
      rows_(problem.side[0].words),
      columns_(problem.side[1].words),
      adjacent_(problem.prices.adjacent),
      scale_(measure_scale(problem)),
      slack_(find_allowance(problem, scale_)),
      states_(list_states(problem.prices.adjacent == kNever<double>)) {
  width_ = static_cast<Index>(states_.size());
  const Index nodes = (rows_ + 1) * (columns_ + 1);
  multipliers_.assign(nodes, 0);
  rho_.assign(nodes, kNever<double>);
  base_.assign(nodes, kNever<double>);
  base_from_.assign(nodes, 0);
  before_.resize(nodes);
  after_.resize(nodes);
  near_.assign(nodes * 3, kNever<double>);
  reached_.assign(nodes * width_, kNever<double>);
  ahead_.assign(nodes * width_, kNever<double>);
  alive_.assign(nodes * width_, 0);
  alive_[0] = 1;  // before the first word is nothing
  for (Index row = 1; row <= rows_; ++row)
    for (Index column = 0; column <= columns_; ++column)
      for (Index s = 0; s < (column ? width_ : 1); ++s) {
        const State& state = states_[s];
        const Index above = row + state.vertical;
        alive_[find_node(row, column) + s] =
            column == 0 ||
            (above >= 1 && above <= rows_ && !(state.has[0] && column == 1) && !(state.has[2] && column == columns_));
      }
  make_edges();
}

void RelaxedLattice::make_edges() {
  const Side& side = problem_.side[0];
  edges_.resize(rows_);
  for (Index row = 1; row <= rows_; ++row) {
    heed_(columns_ * columns_);
    for (Index from = 0; from <= (row > 1 ? columns_ : 0); ++from)
      for (Index to = 0; to <= columns_; ++to) {
        const double score = side.score(row - 1, to, from);
        if (score == kNever<double>) continue;
        edges_[row - 1].push_back({from, to, score});
        if (from > 0 && to > 0 && std::abs(to - from) <= 1) near(row, to, to - from) = score;
      }
    all_edges_ += static_cast<Index>(edges_[row - 1].size());
  }
}

double RelaxedLattice::space() const {
  Index left = 0;
  for (const auto& edges : edges_) left += static_cast<Index>(edges.size());
  return all_edges_ ? static_cast<double>(left) / static_cast<double>(all_edges_) : 1;
}

void RelaxedLattice::start_from_chain() {
  const Side& side = problem_.side[1];
  for (Index column = columns_ - 1; column >= 0; --column)
    for (Index before = 0; before <= (column ? rows_ : 0); ++before) {
      heed_(rows_);
      double best = kNever<double>;
      for (Index row = 0; row <= rows_; ++row)
        best = std::max(best, side.score(column, row, before) - multiplier(row, column + 1));
      multiplier(before, column) = best > kNever<double> ? -best : scale_;
    }
}

double RelaxedLattice::link(Index before, Index row, Index column) const {
  if (column == 1 && before != 0) return kNever<double>;
  return problem_.side[1].score(column - 1, row, before) - multiplier(row, column) + multiplier(before, column - 1);
}

// rho(i, j) for all links.
void RelaxedLattice::find_links() {
  const Side& side = problem_.side[1];
  std::vector<double> best(rows_ + 1);
  for (Index column = 1; column <= columns_; ++column) {
    heed_(rows_ * rows_);
    std::fill(best.begin(), best.end(), kNever<double>);
    for (Index before = 0; before <= (column > 1 ? rows_ : 0); ++before) {
      const double own = multiplier(before, column - 1);
      const double* step = side.step ? side.step + before * side.values : nullptr;
      for (Index row = 0; row <= rows_; ++row) best[row] = std::max(best[row], own + (step ? step[row] : 0));
    }
    for (Index row = 0; row <= rows_; ++row)
      rho_[row * (columns_ + 1) + column] =
          side.choice[(column - 1) * side.values + row] - multiplier(row, column) + best[row];
  }
}

double RelaxedLattice::gain(Index row, Index column, Index s) const {
  if (column == 0) return 0;
  const State& state = states_[s];
  double sum = price(state.vertical);
  for (Index k = -1; k <= 1; ++k)
    if (state.has[k + 1]) sum += best_link(row, column + k) + price(k);
  return sum;
}

bool RelaxedLattice::are_compatible(Index from, Index s, Index to, Index next) const {
  const bool asks_above = to > 0 && states_[next].vertical == kAbove;
  const bool asks_below = from > 0 && states_[s].vertical == kBelow;
  if (!asks_above && !asks_below) return true;
  const Index distance = to - from;
  if (from == 0 || to == 0 || std::abs(distance) > 1) return false;
  return (!asks_above || states_[s].has[distance + 1]) && (!asks_below || states_[next].has[1 - distance]);
}

// Of a node's states: those whose link is at `vertical` ask their neighbours for it, all others are free.
void RelaxedLattice::summarize(Index row, Index column, Index vertical, const std::vector<double>& values,
                               Summary& summary) const {
  summary = {};
  const double* value = values.data() + find_node(row, column);
  if (column == 0) {
    summary.free = value[0];
    return;
  }
  for (Index s = 0; s < width_; ++s) {
    const bool asks = states_[s].vertical == vertical;
    double& best = asks ? summary.asking : summary.free;
    best = std::max(best, value[s]);
    for (Index k = 0; k < 3; ++k)
      if (states_[s].has[k]) {
        double& at = asks ? summary.asking_at[k] : summary.free_at[k];
        at = std::max(at, value[s]);
      }
  }
}

// The best way into a state of a row, from what the row before has reached.
double RelaxedLattice::enter(Index row, Index column, const State& state) {
  const bool asks = state.vertical == kAbove;
  double best = asks ? kNever<double> : base_[row * (columns_ + 1) + column];
  if (width_ == 1) return best;
  for (Index k = -1; k <= 1; ++k) {
    const Index from = column - k;
    if (from < 1 || from > columns_) continue;
    const Summary& other = before_[(row - 1) * (columns_ + 1) + from];
    double value = asks ? other.free_at[k + 1] : kNever<double>;
    if (state.has[1 - k]) value = std::max(value, asks ? other.asking_at[k + 1] : other.asking);
    best = std::max(best, value + near(row, column, k));
  }
  return best;
}

void RelaxedLattice::run_row(Index row) {
  heed_(static_cast<Index>(edges_[row - 1].size()) + columns_ * width_);
  double* base = base_.data() + row * (columns_ + 1);
  Index* from = base_from_.data() + row * (columns_ + 1);
  std::fill_n(base, columns_ + 1, kNever<double>);
  const Summary* before = before_.data() + (row - 1) * (columns_ + 1);
  for (const Edge& edge : edges_[row - 1])
    if (const double value = before[edge.from].free + edge.score; value > base[edge.to]) {
      base[edge.to] = value;
      from[edge.to] = edge.from;
    }
  for (Index column = 0; column <= columns_; ++column) {
    double* reached = reached_.data() + find_node(row, column);
    if (column == 0) reached[0] = is_alive(row, 0, 0) ? base[0] : kNever<double>;
    for (Index s = 0; column > 0 && s < width_; ++s)
      reached[s] = is_alive(row, column, s) ? enter(row, column, states_[s]) + gain(row, column, s) : kNever<double>;
    summarize(row, column, kBelow, reached_, before_[row * (columns_ + 1) + column]);
  }
}

void RelaxedLattice::run_forward() {
  find_links();
  double sum = start();
  for (Index column = 1; column <= columns_; ++column) sum += std::max(0.0, best_link(0, column));
  for (Index column = 0; column <= columns_; ++column) before_[column] = {};
  reached_[0] = sum;
  before_[0].free = sum;
  for (Index row = 1; row <= rows_; ++row) run_row(row);
}

// Goes from a state to the one before it on the best way.
bool RelaxedLattice::trace(Index row, Index& column, Index& state) const {
  const double value = reached_[find_node(row, column) + state] - gain(row, column, state);
  Index best_from = -1, best_state = 0;
  double nearest = INFINITY;  // the sums are the same, but for the order of rounding
  const auto offer = [&](Index from, Index s, double score) {
    const double before = reached_[find_node(row - 1, from) + s];
    if (before == kNever<double> || score == kNever<double> || !are_compatible(from, s, column, state)) return;
    const double off = std::abs(before + score - value);
    if (off >= nearest) return;
    nearest = off;
    best_from = from;
    best_state = s;
  };
  const Index base = base_from_[row * (columns_ + 1) + column];
  for (Index s = 0; s < (base ? width_ : 1); ++s) offer(base, s, problem_.side[0].score(row - 1, column, base));
  for (Index k = -1; column > 0 && k <= 1; ++k)
    if (const Index from = column - k; from >= 1 && from <= columns_ && from != base)
      for (Index s = 0; s < width_; ++s) offer(from, s, near_[(row * (columns_ + 1) + column) * 3 + k + 1]);
  if (best_from < 0) return false;
  column = best_from;
  state = best_state;
  return true;
}

void RelaxedLattice::find_answer(RelaxedAnswer& answer) {
  answer.value = kNever<double>;
  answer.source.assign(rows_, 0);
  answer.links.clear();
  Index column = 0, state = 0;
  for (Index end = 0; end <= columns_; ++end)
    for (Index s = 0; s < (end ? width_ : 1); ++s)
      if (const double value = reached_[find_node(rows_, end) + s]; value > answer.value) {
        answer.value = value;
        column = end;
        state = s;
      }
  if (answer.value == kNever<double>) return;
  const auto add = [&](Index row, Index at) {
    heed_(rows_);
    Index best = 0;
    for (Index before = 1; before <= rows_; ++before)
      if (link(before, row, at) > link(best, row, at)) best = before;
    answer.links.push_back({row, at, best});
  };
  for (Index row = rows_; row > 0; --row) {
    answer.source[row - 1] = column;
    for (Index k = -1; column > 0 && k <= 1; ++k)
      if (states_[state].has[k + 1]) add(row, column + k);
    if (!trace(row, column, state)) break;
  }
  for (Index at = 1; at <= columns_; ++at)
    if (best_link(0, at) > 0) add(0, at);
}

// The best way on from a state of a row; `far` is that of each column to states that ask nothing.
double RelaxedLattice::leave(Index row, Index column, Index s, const std::vector<double>& far) {
  const bool asks = column > 0 && states_[s].vertical == kBelow;
  double best = asks ? kNever<double> : far[column];
  for (Index k = -1; column > 0 && width_ > 1 && k <= 1; ++k) {
    const Index to = column + k;
    if (to < 1 || to > columns_) continue;
    const Summary& other = after_[(row + 1) * (columns_ + 1) + to];
    double value = asks ? other.free_at[1 - k] : kNever<double>;
    if (states_[s].has[k + 1]) value = std::max(value, asks ? other.asking_at[1 - k] : other.asking);
    best = std::max(best, value + near(row + 1, to, k));
  }
  return best;
}

void RelaxedLattice::run_backward() {
  std::vector<double> far(columns_ + 1), whole(reached_.size(), kNever<double>);
  for (Index row = rows_; row >= 0; --row) {
    heed_(columns_ * (columns_ + width_));
    std::fill(far.begin(), far.end(), row == rows_ ? 0 : kNever<double>);
    if (row < rows_)
      for (const Edge& edge : edges_[row])
        far[edge.from] = std::max(far[edge.from], edge.score + after_[(row + 1) * (columns_ + 1) + edge.to].free);
    for (Index column = 0; column <= (row ? columns_ : 0); ++column) {
      for (Index s = 0; s < (column ? width_ : 1); ++s) {
        const Index at = find_node(row, column) + s;
        ahead_[at] = kNever<double>;
        if (!alive_[at]) continue;  // such as one with links beyond the last word
        ahead_[at] = row < rows_ ? leave(row, column, s, far) : 0;
        whole[at] = ahead_[at] + gain(row, column, s);
      }
      summarize(row, column, kAbove, whole, after_[row * (columns_ + 1) + column]);
    }
  }
}

// The best of all answers with a transition.
double RelaxedLattice::find_marginal(Index row, const Edge& edge) {
  const Summary &first = before_[(row - 1) * (columns_ + 1) + edge.from],
                &second = after_[row * (columns_ + 1) + edge.to];
  double best = first.free + second.free;
  const Index k = edge.to - edge.from;
  if (edge.from > 0 && edge.to > 0 && std::abs(k) <= 1)
    best = std::max({best, first.free_at[k + 1] + second.asking, first.asking + second.free_at[1 - k],
                     first.asking_at[k + 1] + second.asking_at[1 - k]});
  return best + edge.score;
}

Index RelaxedLattice::prune(double score, double slack) {
  Index dropped = 0;
  for (Index row = 1; row <= rows_; ++row) {
    heed_(static_cast<Index>(edges_[row - 1].size()));
    dropped += static_cast<Index>(std::erase_if(edges_[row - 1], [&](const Edge& edge) {
      if (find_marginal(row, edge) > score + slack) return false;
      if (edge.from > 0 && edge.to > 0 && std::abs(edge.to - edge.from) <= 1)
        near(row, edge.to, edge.to - edge.from) = kNever<double>;
      return true;
    }));
  }
  for (Index row = 1; row <= rows_; ++row)
    for (Index column = 0; column <= columns_; ++column)
      for (Index s = 0; s < (column ? width_ : 1); ++s)
        if (const Index at = find_node(row, column) + s; reached_[at] + ahead_[at] <= score + slack) alive_[at] = 0;
  return dropped;
}

}  // namespace certus::align
