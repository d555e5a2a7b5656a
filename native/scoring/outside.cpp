#include "scoring/outside.hpp"

#include <algorithm>
#include <cmath>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

// x[i] = max(x[i], min(y[i] + z, v[i] + w))
CERTUS_CLONES void raise_least(double* __restrict x, const double* __restrict y, double z, const double* __restrict v,
                               double w, Index n) {
  for (Index i = 0; i < n; ++i) {
    const double one = y[i] + z, other = v[i] + w, least = one < other ? one : other;
    x[i] = least > x[i] ? least : x[i];
  }
}

// The largest min(x[i] + y[i], z[i] + v[i]).
CERTUS_CLONES double find_largest_least(const double* __restrict x, const double* __restrict y,
                                        const double* __restrict z, const double* __restrict v, Index n) {
  constexpr Index kLanes = 8;
  double most[kLanes];
  for (Index w = 0; w < kLanes; ++w) most[w] = kNever<double>;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (Index w = 0; w < kLanes; ++w) {
      const double one = x[i + w] + y[i + w], other = z[i + w] + v[i + w], least = one < other ? one : other;
      most[w] = least > most[w] ? least : most[w];
    }
  for (; i < n; ++i) most[0] = std::max(most[0], std::min(x[i] + y[i], z[i] + v[i]));
  return *std::max_element(most, most + kLanes);
}

}  // namespace

CERTUS_CLONES void Outside::raise_all(double* __restrict x, const double* __restrict y, double z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] + z > x[i] ? y[i] + z : x[i];
}

// x[g] = max(x[g], max_g' from[g'] + table[g'][g]). What is so much worse than the best that it adds nothing is passed
// over; `most` gives the largest number of a row.
template <class Most>
void Outside::lead(const double* from, const double* table, const Most& most, double* into, Index n) {
  const Index best = std::max_element(from, from + n) - from;
  if (from[best] == kNever<double>) return;
  raise_all(into, table + best * n, from[best], n);
  const double least = *std::min_element(into, into + n);
  for (Index g = 0; g < n; ++g)
    if (g != best && from[g] + most(g) > least) raise_all(into, table + g * n, from[g], n);
}

void Outside::begin(Cascade& cascade, const NgramTable& ngrams, Index order, const std::vector<double>& best) {
  cascade_ = &cascade, ngrams_ = &ngrams, order_ = order, best_ = &best;
  width_ = cascade.bounds->groups() + 1;
  limit_ = kNever<double>, closer_ = false;
  out_.resize(order + 1), any_.resize(order + 1), onward_.resize(order + 1), lower_.resize(order + 1);
  found_.clear(), named_.clear(), named_weights_.clear();
  named_begin_.assign(cascade.length() + 3, 0);
  contexts_.find(cascade.level(1), cascade.tagset(), *cascade.bounds, order);
}

// What longer n-grams may add to an edge of order m.
float Outside::above_edge(Index t, Index m, std::uint32_t r, std::uint32_t s) const {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  const Label y = level.label[s];
  const Key full = mix(level.full[r], static_cast<Key>(y));
  if (m == 1) return bounds.above_labels(full) + contexts_.above(t, r, s);
  if (m == 2 && t > 1) return bounds.above_labels(full) + contexts_.above(t, level.prev[r], level.cur[r], level.cur[s]);
  return bounds.above(full, mix(level.coarse[r], cascade_->group_of(y)));
}

// What they may add to a state of order m that was entered from the order below.
float Outside::above_state(Index t, Index m, std::uint32_t s) const {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  if (m == 2) return bounds.above_labels(level.full[s]) + contexts_.above(t, level.prev[s], level.cur[s]);
  if (m > 3 || t < 2) return bounds.above(level.full[s], level.coarse[s]);
  const Level& two = cascade_->level(2);
  return bounds.above_labels(level.full[s]) +
         contexts_.above(t, two.prev[level.prev[s]], two.cur[level.prev[s]], two.cur[level.cur[s]]);
}

double Outside::weigh_edge(Index t, Index m, std::uint32_t r, std::uint32_t s, std::uint32_t e) const {
  return static_cast<double>(cascade_->level(m).edge[e] + above_edge(t, m, r, s));
}

double Outside::find_forward() {
  const Index P = cascade_->length() + 2;
  for (Index m = 1; m <= order_; ++m) {
    out_[m].resize(cascade_->level(m).size()), any_[m].resize(cascade_->level(m).size());
    out_[m][0] = kNever<double>, any_[m][0] = 0;
  }
  for (auto* values : {&after_, &entering_, &after_rest_, &before_, &followed_, &left_, &around_})
    values->assign(P * width_, kNever<double>);
  before_[width_ - 1] = 0;
  for (Index t = 1; t < P; ++t) {
    enter_rest(t);
    for (Index m = 1; m <= order_; ++m) enter(t, m);
    join(t);
  }
  double most = kNever<double>;
  for (Index m = 1; m <= order_; ++m) {
    const Level& level = cascade_->level(m);
    for (std::uint32_t s = level.begin[P - 1]; s < level.begin[P]; ++s) gather(most, out_[m][s]);
  }
  return most;
}

// Makes what leads to each coarse tag of a position, and the degenerate labels there.
void Outside::enter_rest(Index t) {
  const Index W = width_;
  if (sum_) lead_sums_to_rest(t);
  else lead_to_rest(t);
  if (t > cascade_->length()) return;
  const RestScore* const rest = cascade_->rest(t);
  for (Index g = 0, i = t * W; g + 1 < W; ++g, ++i) {
    if (rest[g].own == kNever<float> || !leads_above(i)) continue;
    before_[i] = followed_[i] =
        std::min(after_[i] + static_cast<double>(rest[g].ending), entering_[i] + static_cast<double>(rest[g].own));
    left_[i] = followed_[i] + contexts_.excess(t)[g];
    around_[i] = after_[i] + static_cast<double>(rest[g].around) + contexts_.excess(t)[g];
  }
  enter_named(t);
}

void Outside::lead_to_rest(Index t) {
  const Index W = width_;
  const NgramBounds& bounds = *cascade_->bounds;
  const double* const before = before_.data() + (t - 1) * W;
  lead(before, bounds.coarse(t), [&](Index g) { return bounds.coarse_most(t, g); }, after_.data() + t * W, W);
  lead(before, bounds.entering(t), [&](Index g) { return bounds.entering_most(t, g); }, entering_.data() + t * W, W);
  const Level& one = cascade_->level(1);
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) {
    const Unit h = bounds.group(one.label[s]);
    double& most = after_rest_[t * W + h];
    if (most == kNever<double>)
      most = find_largest_least(around_.data() + (t - 1) * W, bounds.coarse_into(t) + h * W, left_.data() + (t - 1) * W,
                                bounds.departing_into(t) + h * W, W);
  }
}

void Outside::lead_sums_to_rest(Index t) {
  const Index W = width_;
  const NgramBounds& bounds = *cascade_->bounds;
  for (Index g = 0, i = (t - 1) * W; g < W; ++g, ++i)
    for (Index h = 0, j = t * W; h < W; ++h, ++j) {
      const Index at = g * W + h;
      gather(after_[j], before_[i] + bounds.coarse(t)[at]);
      gather(entering_[j], before_[i] + bounds.entering(t)[at]);
      gather(after_rest_[j], std::min(around_[i] + bounds.coarse(t)[at], left_[i] + bounds.departing(t)[at]));
    }
}

// Takes the larger of two, or adds up the numbers that they are the logarithms of.
void Outside::gather(double& x, double y) const {
  if (!sum_ || x == kNever<double>) {
    raise(x, y);
  } else if (y != kNever<double>) {
    const double most = std::max(x, y);
    x = most + std::log1p(std::exp(std::min(x, y) - most));
  }
}

double Outside::find_mass(const std::vector<double>& sums) {
  best_ = &sums;
  sum_ = true;
  const double mass = find_forward();
  sum_ = false;
  return mass;
}

// Whether a degenerate label is better than the limit, as far as that is known.
bool Outside::leads_above(Index i) const {
  return !closer_ || std::min(after_[i] + onward_after_[i], entering_[i] + onward_entering_[i]) > limit_;
}

// Makes out_m of a position.
void Outside::enter(Index t, Index m) {
  const Level& level = cascade_->level(m);
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double most = enter_at(t, m, s) + level.node[s];
    out_[m][s] = closer_ && !(most + onward_[m][s] > limit_) ? kNever<double> : most;
  }
}

// The best way of a dropped sequence into a state of order m.
double Outside::enter_at(Index t, Index m, std::uint32_t s) const {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  double most = kNever<double>;
  if (m == 1) {
    most = std::max(after_rest_[t * width_ + bounds.group(level.label[s])], lead_from_named(t, s));
  } else if (const double below = out_[m - 1][level.prev[s]]; below != kNever<double>) {
    most = below + static_cast<double>(above_state(t, m, s));
  }
  std::uint32_t r = level.from[s];
  if (m == order_) {
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      gather(most, out_[m][r] + static_cast<double>(level.edge[e]));
    return most;
  }
  const bool kept = cascade_->kept(m, s);
  for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r) {
    if (any_[m][r] == kNever<double> || (kept && cascade_->kept(m, r))) continue;
    double way = any_[m][r] + weigh_edge(t, m, r, s, e);
    if (!sum_ && !(way > most)) continue;
    if (closer_) {
      if (!(way + level.node[s] + onward_[m][s] > limit_)) continue;
      const std::uint32_t candidate = m == 1 ? s : m == 2 ? level.cur[s] : kNone;
      way = std::min(way, reach(t - 1, m, r, level.label[s], candidate) + static_cast<double>(level.edge[e]));
    }
    gather(most, way);
  }
  return most;
}

// Of all sequences up to a state of order m, gone on to a label that was dropped after it: with n-grams of more than
// m + 1 labels, as far as the order is known at which they are followed. The label may be a candidate's, the state of
// order 1.
double Outside::reach(Index t, Index m, std::uint32_t r, Label y, std::uint32_t candidate) const {
  if (m == order_) return any_[m][r];
  const Unit group = cascade_->group_of(y);
  const auto go_on = [&](const Level& level, std::uint32_t s) {
    return std::pair{mix(level.full[s], static_cast<Key>(y)), mix(level.coarse[s], group)};
  };
  double most = kNever<double>;
  if (out_[m][r] != kNever<double>) {
    const Level& level = cascade_->level(m);
    const auto [full, coarse] = go_on(level, r);
    float above = cascade_->bounds->above_labels(full);
    if (m > 2 || candidate == kNone || t == 0) above += cascade_->bounds->above_labels(coarse);
    else if (m == 1) above += contexts_.above(t + 1, r, candidate);
    else above += contexts_.above(t + 1, level.prev[r], level.cur[r], candidate);
    most = out_[m][r] + static_cast<double>(above);
  }
  const Level& above = cascade_->level(m + 1);
  const auto begin = above.cur.begin() + above.begin[t], end = above.cur.begin() + above.begin[t + 1];
  for (auto q = std::lower_bound(begin, end, r); q != end && *q == r; ++q) {
    const std::uint32_t s = static_cast<std::uint32_t>(q - above.cur.begin());
    if (any_[m + 1][s] == kNever<double>) continue;
    const auto [full, coarse] = go_on(above, s);
    raise(most, reach(t, m + 1, s, y, candidate) + static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse)));
  }
  return most;
}

// Makes any_m of a position, and what is before the next.
void Outside::join(Index t) {
  for (Index m = order_; m >= 1; --m) {
    const Level& level = cascade_->level(m);
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      any_[m][s] = out_[m][s];
      if (m < order_ || (closer_ && !((*best_)[s] + leaving_lattice_[s] > limit_))) continue;
      gather(any_[m][s], (*best_)[s]);
    }
    if (m == order_) continue;
    const Level& above = cascade_->level(m + 1);
    for (std::uint32_t q = above.begin[t]; q < above.begin[t + 1]; ++q) gather(any_[m][above.cur[q]], any_[m + 1][q]);
  }
  const Level& one = cascade_->level(1);
  double* const before = before_.data() + t * width_;
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
    gather(before[cascade_->bounds->group(one.label[s])], any_[1][s]);
}

void Outside::find_backward(double limit) {
  const Index P = cascade_->length() + 2;
  limit_ = limit;
  forget_names();
  for (Index m = 1; m <= order_; ++m) {
    const Level& level = cascade_->level(m);
    onward_[m].assign(level.size(), kNever<double>), lower_[m].assign(level.size(), kNever<double>);
    std::fill(onward_[m].begin() + level.begin[P - 1], onward_[m].end(), 0.0);
  }
  leaving_lattice_.assign(cascade_->level(order_).size(), kNever<double>);
  for (auto* values : {&to_rest_, &to_label_, &onward_after_, &onward_entering_})
    values->assign(P * width_, kNever<double>);
  for (Index t = P - 1; t > 0; --t) {
    go_backward(t);
    for (Index m = 1; m <= order_; ++m) leave(t, m);
  }
  closer_ = true;
}

// Makes the ways on from coarse tags of the position before.
void Outside::go_backward(Index t) {
  const Level& one = cascade_->level(1);
  const NgramBounds& bounds = *cascade_->bounds;
  const Index W = width_;
  ahead_.assign(W, kNever<double>);
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
    if (out_[1][s] != kNever<double>) raise(ahead_[bounds.group(one.label[s])], one.node[s] + onward_[1][s]);
  double *const to_rest = to_rest_.data() + (t - 1) * W, *const to_label = to_label_.data() + (t - 1) * W;
  const double *const after = onward_after_.data() + t * W, *const in = onward_entering_.data() + t * W;
  for (Index h = 0; h + 1 < W; ++h)
    if (after[h] != kNever<double>)
      raise_least(to_rest, bounds.coarse_into(t) + h * W, after[h], bounds.entering_into(t) + h * W, in[h], W);
  if (t == 1) return;
  const RestScore* const rest = cascade_->rest(t - 1);
  around_ahead_.assign(W, kNever<double>), own_ahead_.assign(W, kNever<double>);
  for (Index h = 0; h < W; ++h) {
    if (ahead_[h] == kNever<double>) continue;
    const double *const coarse = bounds.coarse_into(t) + h * W, *const departing = bounds.departing_into(t) + h * W;
    raise_all(to_label, coarse, ahead_[h], W);
    raise_all(own_ahead_.data(), departing, ahead_[h], W);
    for (Index g = 0; g + 1 < W; ++g)
      raise(around_ahead_[g], ahead_[h] + std::min(static_cast<double>(rest[g].around) + coarse[g],
                                                   static_cast<double>(rest[g].ending) + departing[g]));
  }
  for (Index g = 0, i = (t - 1) * W; g + 1 < W; ++g, ++i) {
    if (followed_[i] == kNever<double>) continue;
    const double excess = contexts_.excess(t - 1)[g];
    onward_after_[i] = std::max(static_cast<double>(rest[g].ending) + to_rest[g], excess + around_ahead_[g]);
    onward_entering_[i] = static_cast<double>(rest[g].own) + std::max(to_rest[g], excess + own_ahead_[g]);
  }
}

void Outside::leave(Index t, Index m) {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r) {
    if (m > 1) lower_[m][r] = lower_[m - 1][level.cur[r]];
    else lower_[m][r] = to_rest_[(t - 1) * width_ + bounds.group(level.label[r])];
  }
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on = out_[m][s] == kNever<double> ? kNever<double> : level.node[s] + onward_[m][s];
    if (m > 1 && out_[m - 1][level.prev[s]] != kNever<double> && on != kNever<double>)
      raise(onward_[m - 1][level.prev[s]], on + static_cast<double>(above_state(t, m, s)));
    if (m < order_ && on == kNever<double>) continue;
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      if (m == order_) {
        raise(onward_[m][r], on + static_cast<double>(level.edge[e]));
        raise(leaving_lattice_[r], level.node[s] + leaving_lattice_[s] + static_cast<double>(level.edge[e]));
      } else if (any_[m][r] != kNever<double> && (!cascade_->kept(m, s) || !cascade_->kept(m, r))) {
        raise(lower_[m][r], on + weigh_edge(t, m, r, s, e));
      }
  }
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r) raise(onward_[m][r], lower_[m][r]);
  if (m == order_)
    for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r) raise(leaving_lattice_[r], lower_[m][r]);
}

void Outside::drop_states(Index m, double least, std::vector<std::uint8_t>& states) {
  const Level& level = cascade_->level(m);
  const Index P = level.positions();
  std::vector<double>&best = out_[m], &rest = onward_[m];
  best.assign(level.size(), kNever<double>), rest.assign(level.size(), kNever<double>);
  std::vector<double> weight(level.edge.size());
  best[0] = 0;
  for (Index t = 1; t < P; ++t)
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
      std::uint32_t r = level.from[s];
      for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
        raise(best[s], best[r] + (weight[e] = weigh_edge(t, m, r, s, e) + level.node[s]));
    }
  std::fill(rest.begin() + level.begin[P - 1], rest.end(), 0.0);
  for (std::uint32_t s = static_cast<std::uint32_t>(level.size()); s-- > 0;) {
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      raise(rest[r], rest[s] + weight[e]);
  }
  states.resize(level.size());
  for (std::size_t s = 0; s < level.size(); ++s) states[s] = best[s] + rest[s] >= least;
}

}  // namespace certus::scoring
