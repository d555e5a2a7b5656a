#include "scoring/outside.hpp"

#include <algorithm>

namespace certus::scoring {
namespace {

void raise(double& x, double y) { x = std::max(x, y); }

// x[i] = max(x[i], y[i] + z)
void raise_all(double* __restrict x, const double* __restrict y, double z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] + z > x[i] ? y[i] + z : x[i];
}

// An edge of order m, with what longer n-grams may add.
double weigh_edge(const Cascade& cascade, Index m, std::uint32_t r, std::uint32_t s, std::uint32_t e) {
  const Level& level = cascade.level(m);
  const Label y = level.label[s];
  const Key full = mix(level.full[r], static_cast<Key>(y)), coarse = mix(level.coarse[r], cascade.group_of(y));
  return static_cast<double>(level.edge[e] + cascade.bounds->above(full, coarse));
}

}  // namespace

double Outside::find(const Cascade& cascade, Index order, const std::vector<double>& best, bool once) {
  const Index P = cascade.length() + 2, W = cascade.bounds->groups() + 1;
  order_ = order, best_ = &best, once_ = once;
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
  const auto lead = [&](std::vector<double>& from, std::vector<double>& to) {
    for (Index g = 0; g < W; ++g)
      if (const double x = from[(t - 1) * W + g]; x != kNever<double>) raise_all(to.data() + t * W, coarse + g * W, x, W);
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
        if (!kept || !cascade.kept(m, r)) raise(most, any_[m][r] + weigh_edge(cascade, m, r, s, e));
    }
    out_[m][s] = most + level.node[s];
  }
}

// Makes any_m of a position, and what is before the next.
void Outside::join(const Cascade& cascade, Index t) {
  for (Index m = order_; m >= 1; --m) {
    const Level& level = cascade.level(m);
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s)
      any_[m][s] = m == order_                          ? std::max(once_ ? kNever<double> : out_[m][s], (*best_)[s])
                   : once_ && cascade.kept(m, s) ? kNever<double>
                                                 : out_[m][s];
    if (m == order_) continue;
    const Level& above = cascade.level(m + 1);
    for (std::uint32_t q = above.begin[t]; q < above.begin[t + 1]; ++q) raise(any_[m][above.cur[q]], any_[m + 1][q]);
  }
  const Level& one = cascade.level(1);
  double* const before = before_.data() + t * (cascade.bounds->groups() + 1);
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) raise(before[cascade.bounds->group(one.label[s])], any_[1][s]);
}

void Outside::find_above(const Cascade& cascade, const NgramTable& ngrams, double limit) {
  const Index P = cascade.length() + 2;
  onward_.resize(order_ + 1), lower_.resize(order_ + 1), states.resize(order_ + 1);
  for (Index m = 1; m <= order_; ++m) {
    onward_[m].assign(cascade.level(m).size(), kNever<double>), lower_[m].assign(cascade.level(m).size(), kNever<double>);
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
  for (Index m = 1; m < order_; ++m)
    for (std::uint32_t s = 0; s < cascade.level(m).size(); ++s)
      if (!cascade.kept(m, s) && out_[m][s] + onward_[m][s] > limit) states[m].push_back(s);
  labels.clear();
  for (Index t = 1; t <= cascade.length(); ++t)
    for (Index g = 0; g + 1 < W; ++g) {
      const double most = std::max({between_[t * W + g] + to_label_[t * W + g], first_[t * W + g] + to_rest_[t * W + g],
                                    several_[t * W + g] + std::max(to_label_[t * W + g], to_rest_[t * W + g])});
      if (!(most > limit)) continue;
      const float* const dropped = cascade.dropped(t);
      for (Index i = cascade.bounds->begin(g); i < cascade.bounds->begin(g + 1); ++i)
        if (dropped[i] != kNever<float> && bound_label(cascade, ngrams, t, i) > limit) labels.emplace_back(t, i);
    }
}

// The largest score of a sequence that has a dropped label, with the n-grams of two labels that it makes with its
// neighbours' candidates.
double Outside::bound_label(const Cascade& cascade, const NgramTable& ngrams, Index t, Index i) const {
  const NgramBounds& bounds = *cascade.bounds;
  const Level& one = cascade.level(1);
  const Index W = bounds.groups() + 1;
  const Label y = cascade.tagset().members[i];
  const Unit group = cascade.group_of(y), told = bounds.group(y);
  const auto weigh = [&](Key full, Key coarse) {
    return static_cast<double>(ngrams.at(full) + ngrams.at(coarse) + bounds.above(full, coarse));
  };
  double before = after_several_[t * W + told] + static_cast<double>(bounds.ending(t, y));
  for (std::uint32_t s = one.begin[t - 1]; s < one.begin[t]; ++s)
    raise(before, any_[1][s] + weigh(mix(one.full[s], static_cast<Key>(y)), mix(one.coarse[s], group)));
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
      else if (!cascade.kept(m, s) || !cascade.kept(m, r))
        raise(lower_[m][r], on + weigh_edge(cascade, m, r, s, e));
    if (m > 1)
      raise(onward_[m - 1][level.prev[s]], on + static_cast<double>(bounds.above(level.full[s], level.coarse[s])));
  }
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r)
    if (!once_ || (m < order_ && !cascade.kept(m, r))) raise(onward_[m][r], lower_[m][r]);
}

}  // namespace certus::scoring
