#include "syntax/dependency/program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace certus::syntax {

void Program::clear() {
  begin_.assign(2, 0);
  arc_.assign(1, -1);
  left_.clear();
  right_.clear();
  part_.clear();
  weight_.clear();
  goal_ = kMissing;
}

void Program::reserve(Index ways) {
  const auto count = static_cast<std::size_t>(ways);
  left_.reserve(count);
  right_.reserve(count);
  part_.reserve(count);
  weight_.reserve(count);
}

Label Program::close(Label arc) {
  if (left_.size() == opened_) return kMissing;
  if (left_.size() > std::numeric_limits<Label>::max() / 2)
    throw std::length_error("the trees of this sentence do not fit into memory: give fewer candidate arcs");
  begin_.push_back(static_cast<Index>(left_.size()));
  arc_.push_back(arc);
  return static_cast<Label>(arc_.size() - 1);
}

void Program::find_best() {
  const Index count = items();
  Heed heed;
  in_.resize(count);
  best_.resize(count);
  in_[kNothing] = 0;
  best_[kNothing] = -1;
  for (Index v = 1; v < count; ++v) {
    Index chosen = begin_[v];
    double most = weight_[chosen] + in_[left_[chosen]] + in_[right_[chosen]];
    for (Index e = chosen + 1; e < begin_[v + 1]; ++e) {
      const double sum = weight_[e] + in_[left_[e]] + in_[right_[e]];
      if (sum > most) most = sum, chosen = e;
    }
    in_[v] = most;
    best_[v] = chosen;
    heed(begin_[v + 1] - begin_[v]);
    if (watch_) (*watch_)(begin_[v + 1] - begin_[v]);
  }
}

double Program::decode(std::vector<Label>& used) {
  find_best();
  used.clear();
  stack_.assign(1, goal_);
  while (!stack_.empty()) {
    const Label v = stack_.back();
    stack_.pop_back();
    if (v == kNothing) continue;
    if (arc_[v] >= 0) used.push_back(arc_[v]);
    stack_.push_back(left_[best_[v]]);
    stack_.push_back(right_[best_[v]]);
  }
  return in_[goal_];
}

void Program::find_outside() {
  const Index count = items();
  Heed heed;
  out_.assign(count, kNever<double>);
  above_.assign(count, -1);
  head_.resize(left_.size());
  out_[goal_] = 0;
  const auto offer = [&](Label v, double value, Index e) {
    if (value > out_[v]) out_[v] = value, above_[v] = e;
  };
  for (Index v = count - 1; v > 0; --v) {
    heed(begin_[v + 1] - begin_[v]);
    for (Index e = begin_[v]; e < begin_[v + 1]; ++e) {
      head_[e] = static_cast<Label>(v);
      if (out_[v] == kNever<double>) continue;
      const double with = out_[v] + weight_[e];
      offer(left_[e], with + in_[right_[e]], e);
      offer(right_[e], with + in_[left_[e]], e);
    }
  }
}

double Program::max_marginals(Index arcs, double* out) {
  find_best();
  find_outside();
  std::fill(out, out + arcs, kNever<double>);
  for (Index v = 1; v < items(); ++v)
    if (arc_[v] >= 0) out[arc_[v]] = std::max(out[arc_[v]], in_[v] + out_[v]);
  return in_[goal_];
}

// A tree that is the best with an item is the item's best way down, and, going up, what is above the item with the
// best ways down on the other side. Both kinds of counts add up along the order of the items.
void Program::count_max_marginal_trees(Index arcs, double* counts, double* parts) {
  const Index count = items();
  std::vector<Index> holder(arcs, -1);
  for (Index v = 1; v < count; ++v) {
    if (arc_[v] < 0 || out_[v] == kNever<double>) continue;
    Index& held = holder[arc_[v]];
    if (held < 0 || in_[v] + out_[v] > in_[held] + out_[held]) held = v;
  }
  std::vector<double> down(count, 0), up(count, 0);
  for (Index a = 0; a < arcs; ++a) {
    counts[a] = 0;
    if (holder[a] >= 0) ++down[holder[a]], ++up[holder[a]];
  }
  const auto use = [&](Index e, double times) {
    if (parts && part_[e] >= 0) parts[part_[e]] += times;
  };
  for (Index v = 1; v < count; ++v) {
    if (up[v] == 0 || v == goal_) continue;
    const Index e = above_[v];
    const Label other = left_[e] == v ? right_[e] : left_[e], head = head_[e];
    up[head] += up[v];
    down[other] += up[v];
    if (arc_[head] >= 0) counts[arc_[head]] += up[v];
    use(e, up[v]);
  }
  for (Index v = count - 1; v > 0; --v) {
    if (down[v] == 0) continue;
    const Index e = best_[v];
    if (arc_[v] >= 0) counts[arc_[v]] += down[v];
    down[left_[e]] += down[v];
    down[right_[e]] += down[v];
    use(e, down[v]);
  }
}

double Program::marginals(Index arcs, double* out, double* parts) {
  const Index count = items();
  Heed heed;
  in_.resize(count);
  share_.resize(left_.size());
  in_[kNothing] = 0;
  for (Index v = 1; v < count; ++v) {
    double most = kNever<double>, sum = 0;
    for (Index e = begin_[v]; e < begin_[v + 1]; ++e) {
      share_[e] = weight_[e] + in_[left_[e]] + in_[right_[e]];
      most = std::max(most, share_[e]);
    }
    for (Index e = begin_[v]; e < begin_[v + 1]; ++e) sum += share_[e] = std::exp(share_[e] - most);
    for (Index e = begin_[v]; e < begin_[v + 1]; ++e) share_[e] /= sum;
    in_[v] = most + std::log(sum);
    heed(16 * (begin_[v + 1] - begin_[v]));
  }
  std::fill(out, out + arcs, 0.0);
  out_.assign(count, 0);
  out_[goal_] = 1;
  for (Index v = count - 1; v > 0; --v) {
    if (out_[v] == 0) continue;
    if (arc_[v] >= 0) out[arc_[v]] += out_[v];
    for (Index e = begin_[v]; e < begin_[v + 1]; ++e) {
      const double times = out_[v] * share_[e];
      out_[left_[e]] += times;
      out_[right_[e]] += times;
      if (parts && part_[e] >= 0) parts[part_[e]] += times;
    }
    heed(2 * (begin_[v + 1] - begin_[v]));
  }
  return in_[goal_];
}

hypergraph::Forest Program::make_forest() const {
  std::vector<Index> heads, offsets{0}, tails;
  for (Index v = 1; v < items(); ++v)
    for (Index e = begin_[v]; e < begin_[v + 1]; ++e) {
      heads.push_back(v - 1);
      for (const Label tail : {left_[e], right_[e]})
        if (tail != kNothing) tails.push_back(tail - 1);
      offsets.push_back(static_cast<Index>(tails.size()));
    }
  const Index goal = goal_ - 1;
  return hypergraph::Forest({items() - 1, ways(), heads.data(), offsets.data(), tails.data(), &goal, 1});
}

std::vector<Label> Program::list_arcs() const {
  std::vector<Label> out;
  for (Index v = 1; v < items(); ++v) out.insert(out.end(), begin_[v + 1] - begin_[v], arc_[v]);
  return out;
}

}  // namespace certus::syntax
