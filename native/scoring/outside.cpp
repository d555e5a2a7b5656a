#include "scoring/outside.hpp"

#include <algorithm>
#include <functional>

namespace certus::scoring {
namespace {

constexpr std::size_t kMostLabels = 8;  // of a position that are taken back at once, and states of an order

void raise(double& x, double y) { x = std::max(x, y); }

// x[i] = max(x[i], y[i] + z)
void raise_all(double* __restrict x, const double* __restrict y, double z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] + z > x[i] ? y[i] + z : x[i];
}

// An edge of order m, with what longer n-grams may add.
double weigh_edge(const Cascade& cascade, Index t, Index m, std::uint32_t r, std::uint32_t s, std::uint32_t e) {
  const Level& level = cascade.level(m);
  const NgramBounds& bounds = *cascade.bounds;
  const Label y = level.label[s];
  const Key full = mix(level.full[r], static_cast<Key>(y));
  const float above = m == 1 ? bounds.above(t, full, bounds.group(level.label[r]), bounds.group(y))
                             : bounds.above(full, mix(level.coarse[r], cascade.group_of(y)));
  return static_cast<double>(level.edge[e] + above);
}

}  // namespace

double Outside::find(const Cascade& cascade, const NgramTable& ngrams, Index order, const std::vector<double>& best,
                     bool once) {
  const Index P = cascade.length() + 2, W = cascade.bounds->groups() + 1;
  order_ = order, best_ = &best, once_ = once, ngrams_ = &ngrams;
  out_.resize(order + 1), any_.resize(order + 1);
  for (Index m = 1; m <= order; ++m) {
    out_[m].resize(cascade.level(m).size()), any_[m].resize(cascade.level(m).size());
    out_[m][0] = kNever<double>, any_[m][0] = 0;
  }
  for (auto* values : {&between_, &first_, &several_, &before_, &after_, &after_rest_, &after_several_})
    values->assign(P * W, kNever<double>);
  before_[W - 1] = 0;
  for (Index t = 1; t < P; ++t) {
    enter_rest(cascade, t);
    for (Index m = 1; m <= order_; ++m) enter(cascade, t, m);
    join(cascade, t);
  }
  double most = kNever<double>;
  for (Index m = 1; m <= order; ++m) {
    const Level& level = cascade.level(m);
    for (std::uint32_t s = level.begin[P - 1]; s < level.begin[P]; ++s) raise(most, out_[m][s]);
  }
  return most;
}

// Makes what leads to each coarse tag of a position, and the degenerate labels there.
void Outside::enter_rest(const Cascade& cascade, Index t) {
  const Index W = cascade.bounds->groups() + 1;
  const double* const coarse = cascade.bounds->coarse(t);
  // What is so much worse than the best that it adds nothing is passed over.
  const auto lead = [&](const std::vector<double>& from, std::vector<double>& into) {
    const double* const x = from.data() + (t - 1) * W;
    double* const to = into.data() + t * W;
    const Index best = std::max_element(x, x + W) - x;
    if (x[best] == kNever<double>) return;
    raise_all(to, coarse + best * W, x[best], W);
    const double least = *std::min_element(to, to + W);
    for (Index g = 0; g < W; ++g)
      if (g != best && x[g] + cascade.bounds->coarse_most(t, g) > least) raise_all(to, coarse + g * W, x[g], W);
  };
  lead(before_, after_);
  lead(between_, after_rest_);
  lead(several_, after_rest_);
  lead(first_, after_several_);
  lead(several_, after_several_);
  if (t > cascade.length()) return;
  for (Index g = 0, i = t * W; g + 1 < W; ++g, ++i) {
    between_[i] = after_[i] + static_cast<double>(cascade.rest_between(t)[g]);
    first_[i] = after_[i] + static_cast<double>(cascade.rest(t)[g]);
    several_[i] = after_several_[i] + static_cast<double>(cascade.rest(t)[g]);
  }
}

// Makes out_m of a position.
void Outside::enter(const Cascade& cascade, Index t, Index m) {
  const Level& level = cascade.level(m);
  const NgramBounds& bounds = *cascade.bounds;
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const Label y = level.label[s];
    double most = m == 1 ? after_rest_[t * (bounds.groups() + 1) + bounds.group(y)] : kNever<double>;
    if (m > 1) {
      const double below = out_[m - 1][level.prev[s]];
      if (below != kNever<double>) most = below + static_cast<double>(bounds.above(level.full[s], level.coarse[s]));
    }
    std::uint32_t r = level.from[s];
    if (m == order_) {
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
        raise(most, out_[m][r] + static_cast<double>(level.edge[e]));
    } else {
      const bool kept = cascade.kept(m, s);
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
        if (!kept || !cascade.kept(m, r)) raise(most, any_[m][r] + weigh_edge(cascade, t, m, r, s, e));
    }
    out_[m][s] = most + level.node[s];
  }
}

// Of all sequences up to a state of order m, gone on to a label that was dropped after it: with n-grams of more than
// m + 1 labels, as far as the order is known at which they are followed.
double Outside::reach(const Cascade& cascade, Index t, Index m, std::uint32_t r, Label y) const {
  if (m == order_) return any_[m][r];
  const Unit group = cascade.group_of(y);
  const auto go_on = [&](const Level& level, std::uint32_t s) {
    return std::pair{mix(level.full[s], static_cast<Key>(y)), mix(level.coarse[s], group)};
  };
  double most = kNever<double>;
  if (out_[m][r] != kNever<double> && !once_) {
    const auto [full, coarse] = go_on(cascade.level(m), r);
    most = out_[m][r] + static_cast<double>(cascade.bounds->above(full, coarse));
  }
  const Level& above = cascade.level(m + 1);
  const auto begin = above.cur.begin() + above.begin[t], end = above.cur.begin() + above.begin[t + 1];
  for (auto q = std::lower_bound(begin, end, r); q != end && *q == r; ++q) {
    const std::uint32_t s = static_cast<std::uint32_t>(q - above.cur.begin());
    const auto [full, coarse] = go_on(above, s);
    raise(most, reach(cascade, t, m + 1, s, y) + static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse)));
  }
  return most;
}

// Makes any_m of a position, and what is before the next.
void Outside::join(const Cascade& cascade, Index t) {
  for (Index m = order_; m >= 1; --m) {
    const Level& level = cascade.level(m);
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s)
      any_[m][s] = m == order_                   ? std::max(once_ ? kNever<double> : out_[m][s], (*best_)[s])
                   : once_ && cascade.kept(m, s) ? kNever<double>
                                                 : out_[m][s];
    if (m == order_) continue;
    const Level& above = cascade.level(m + 1);
    for (std::uint32_t q = above.begin[t]; q < above.begin[t + 1]; ++q) raise(any_[m][above.cur[q]], any_[m + 1][q]);
  }
  const Level& one = cascade.level(1);
  double* const before = before_.data() + t * (cascade.bounds->groups() + 1);
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
    raise(before[cascade.bounds->group(one.label[s])], any_[1][s]);
}

void Outside::find_above(const Cascade& cascade, double limit) {
  const Index P = cascade.length() + 2;
  onward_.resize(order_ + 1), lower_.resize(order_ + 1), states.resize(order_ + 1);
  for (Index m = 1; m <= order_; ++m) {
    onward_[m].assign(cascade.level(m).size(), kNever<double>),
        lower_[m].assign(cascade.level(m).size(), kNever<double>);
    const Level& level = cascade.level(m);
    std::fill(onward_[m].begin() + level.begin[P - 1], onward_[m].end(), 0.0);
    states[m].clear();
  }
  const Index W = cascade.bounds->groups() + 1;
  for (auto* values : {&to_label_, &to_rest_, &from_label_}) values->assign(P * W, kNever<double>);
  for (Index t = P - 1; t > 0; --t) {
    go_backward(cascade, t);
    for (Index m = 1; m <= order_; ++m) leave(cascade, t, m);
  }
  for (Index m = 1; m < order_; ++m) find_states(cascade, m, limit);
  labels.clear();
  for (Index t = 1; t <= cascade.length(); ++t) {
    found_.clear();
    find_labels(cascade, t, limit);
    const std::size_t count = std::min(found_.size(), kMostLabels);
    std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(count), found_.end(),
                      std::greater<>());
    found_.resize(count);
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [bound, i] : found_) labels.emplace_back(t, i);
  }
}

void Outside::find_states(const Cascade& cascade, Index m, double limit) {
  const Level& level = cascade.level(m);
  for (Index t = 1; t < level.positions(); ++t) {
    found_.clear();
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s)
      if (const double bound = out_[m][s] + onward_[m][s]; !cascade.kept(m, s) && bound > limit)
        found_.emplace_back(bound, s);
    const std::size_t count = std::min(found_.size(), kMostLabels);
    std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(count), found_.end(),
                      std::greater<>());
    for (std::size_t i = 0; i < count; ++i) states[m].push_back(static_cast<std::uint32_t>(found_[i].second));
  }
}

// Lists what n-grams may add with the candidates of a position.
void Outside::list_beside(const Cascade& cascade, Index t, const float* (NgramBounds::*of)(Unit) const,
                          std::vector<const float*>& rows) const {
  const Level& one = cascade.level(1);
  rows.clear();
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) {
    const float* const row = (cascade.bounds->*of)(cascade.bounds->group(one.label[s]));
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
}

// Finds those of a position, with their bounds.
void Outside::find_labels(const Cascade& cascade, Index t, double limit) {
  const NgramBounds& bounds = *cascade.bounds;
  const Index W = bounds.groups() + 1;
  const float *const dropped = cascade.dropped(t), *const around = bounds.around(t);
  ending_.clear();
  for (Index g = 0, j = t * W; g + 1 < W; ++g, ++j) {
    const double between = after_[j] + to_label_[j];
    const double several = std::max(after_[j] + to_rest_[j], after_several_[j] + std::max(to_label_[j], to_rest_[j]));
    if (!(between + static_cast<double>(cascade.rest_between(t)[g]) > limit) &&
        !(several + static_cast<double>(cascade.rest(t)[g]) > limit))
      continue;
    if (ending_.empty()) {
      list_beside(cascade, t - 1, &NgramBounds::ending_after, ending_);
      list_beside(cascade, t + 1, &NgramBounds::leaving_to, leaving_);
    }
    for (Index i = bounds.begin(g); i < bounds.begin(g + 1); ++i) {
      if (dropped[i] == kNever<float>) continue;
      if (!(several + static_cast<double>(dropped[i] + around[i]) > limit)) {
        float in = 0, out = 0;
        for (const float* row : ending_) in = std::max(in, row[i]);
        for (const float* row : leaving_) out = std::max(out, row[i]);
        if (!(between + static_cast<double>(dropped[i] + in + out) > limit)) continue;
      }
      if (const double bound = bound_label(cascade, t, i); bound > limit) found_.emplace_back(bound, i);
    }
  }
}

// The largest score of a sequence that has a dropped label, with the n-grams of two labels that it makes with its
// neighbours' candidates.
double Outside::bound_label(const Cascade& cascade, Index t, Index i) const {
  const NgramBounds& bounds = *cascade.bounds;
  const Level& one = cascade.level(1);
  const Index W = bounds.groups() + 1;
  const Label y = cascade.bounds->at(i);
  const Unit group = cascade.group_of(y), told = bounds.group(y);
  const auto weigh = [&](Key full, Key coarse) {
    return static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse) + bounds.above(full, coarse));
  };
  double before = after_several_[t * W + told] + static_cast<double>(bounds.ending(t, y));
  for (std::uint32_t s = one.begin[t - 1]; s < one.begin[t]; ++s)
    raise(before,
          reach(cascade, t - 1, 1, s, y) + static_cast<double>(ngrams_->at(mix(one.full[s], static_cast<Key>(y))) +
                                                               ngrams_->at(mix(one.coarse[s], group))));
  double after = to_rest_[t * W + told] + static_cast<double>(bounds.leaving(t, y));
  const Key full = mix(1, static_cast<Key>(y)), coarse = mix(2, group);
  for (std::uint32_t s = one.begin[t + 1]; s < one.begin[t + 2]; ++s)
    raise(after, weigh(mix(full, static_cast<Key>(one.label[s])), mix(coarse, cascade.group_of(one.label[s]))) +
                     one.node[s] + onward_[1][s]);
  return before + static_cast<double>(cascade.dropped(t)[i]) + after;
}

// Makes the ways on from coarse tags of the position before, to a label and to a degenerate one.
void Outside::go_backward(const Cascade& cascade, Index t) {
  const Level& one = cascade.level(1);
  const NgramBounds& bounds = *cascade.bounds;
  const Index W = bounds.groups() + 1;
  // To the labels of a position; to degenerate ones that go on to a label, or to another degenerate one.
  ahead_.assign(W, kNever<double>), between_ahead_.assign(W, kNever<double>), several_ahead_.assign(W, kNever<double>);
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
    raise(ahead_[bounds.group(one.label[s])], one.node[s] + onward_[1][s]);
  for (Index g = 0; t <= cascade.length() && g + 1 < W; ++g) {
    const double on = to_rest_[t * W + g], rest = static_cast<double>(cascade.rest(t)[g]);
    between_ahead_[g] = std::max(static_cast<double>(cascade.rest_between(t)[g]) + to_label_[t * W + g], rest + on);
    several_ahead_[g] = rest + std::max(to_label_[t * W + g], on);
  }
  const double* const coarse = bounds.coarse(t);
  for (Index g = 0, i = (t - 1) * W; g < W; ++g, ++i)
    for (Index h = 0; h < W; ++h) {
      raise(to_label_[i], coarse[g * W + h] + ahead_[h]);
      raise(from_label_[i], coarse[g * W + h] + between_ahead_[h]);
      raise(to_rest_[i], coarse[g * W + h] + several_ahead_[h]);
    }
}

void Outside::leave(const Cascade& cascade, Index t, Index m) {
  const Level& level = cascade.level(m);
  const NgramBounds& bounds = *cascade.bounds;
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r) {
    if (m > 1) lower_[m][r] = lower_[m - 1][level.cur[r]];
    else lower_[m][r] = from_label_[(t - 1) * (bounds.groups() + 1) + bounds.group(level.label[r])];
  }
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on = level.node[s] + onward_[m][s];
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      if (m == order_) raise(onward_[m][r], on + static_cast<double>(level.edge[e]));
      else if (!cascade.kept(m, s) || !cascade.kept(m, r)) raise(lower_[m][r], on + weigh_edge(cascade, t, m, r, s, e));
    if (m > 1)
      raise(onward_[m - 1][level.prev[s]], on + static_cast<double>(bounds.above(level.full[s], level.coarse[s])));
  }
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r)
    if (!once_ || (m < order_ && !cascade.kept(m, r))) raise(onward_[m][r], lower_[m][r]);
}

}  // namespace certus::scoring
