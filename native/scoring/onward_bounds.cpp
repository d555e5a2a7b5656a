#include "scoring/onward_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "base/vector.hpp"

namespace certus::scoring {
namespace {

// Ways on by labels that are no candidates are told apart only where they are not so much worse than the best, for
// each label that n-grams look back.
constexpr double kFarBelow = 0.7;

void raise(double& x, double y) { x = std::max(x, y); }

// x[i] = max(x[i], y[i] + z)
CERTUS_CLONES void raise_all(double* __restrict x, const double* __restrict y, double z, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = y[i] + z > x[i] ? y[i] + z : x[i];
}

// x[i] = max(x[i], min(y[i] + z, v[i] + w))
CERTUS_CLONES void raise_least(double* __restrict x, const double* __restrict y, double z, const double* __restrict v,
                               double w, Index n) {
  for (Index i = 0; i < n; ++i) {
    const double one = y[i] + z, other = v[i] + w, least = one < other ? one : other;
    x[i] = least > x[i] ? least : x[i];
  }
}

// x[i] = max(x[i], min(y[i] + z[i], v[i] + w[i]) + more)
CERTUS_CLONES void raise_least_sums(double* __restrict x, const double* __restrict y, const double* __restrict z,
                                    const double* __restrict v, const double* __restrict w, double more, Index n) {
  for (Index i = 0; i < n; ++i) {
    const double one = y[i] + z[i], other = v[i] + w[i], least = (one < other ? one : other) + more;
    x[i] = least > x[i] ? least : x[i];
  }
}

}  // namespace

// Takes the larger of two, or adds up the numbers that they are the logarithms of.
void Onward::gather(double& x, double y) const {
  if (!sum_ || x == kNever<double>) {
    raise(x, y);
  } else if (y != kNever<double>) {
    const double most = std::max(x, y);
    x = most + std::log1p(std::exp(std::min(x, y) - most));
  }
}

void Onward::gather_all(double* x, const double* y, double z) const {
  if (!sum_) return raise_all(x, y, z, width_);
  for (Index i = 0; i < width_; ++i) gather(x[i], y[i] + z);
}

void Onward::begin(Cascade& cascade, const NgramTable& ngrams, Index order) {
  cascade_ = &cascade, ngrams_ = &ngrams, order_ = order;
  width_ = cascade.bounds->groups() + 1;
  contexts_.find(cascade.level(1), cascade.tagset(), *cascade.bounds, order);
  const Index P = cascade.length() + 2;
  on_.resize(order + 1), lower_.resize(order + 1);
  for (Index m = 1; m <= order; ++m) {
    const Level& level = cascade.level(m);
    on_[m].assign(level.size(), kNever<double>), lower_[m].resize(level.size());
    std::fill(on_[m].begin() + level.begin[P - 1], on_[m].end(), 0.0);
  }
  leaving_.assign(cascade.level(order).size(), kNever<double>);
  pairs_.assign(cascade.level(1).edge.size(), -kNever<float>);
  for (auto* values : {&to_rest_, &to_other_, &to_label_, &own_to_label_, &after_, &entering_})
    values->assign(P * width_, kNever<double>);
  for (auto* values : {&rest_own_, &rest_ending_, &rest_around_}) values->assign(width_, kNever<double>);
  limit_ = kNever<double>, far_ = -kNever<double>;
  named_.clear();
  named_begin_.assign(P + 1, 0);
}

void Onward::tell_apart(double limit, const Allowed* allowed, const UnitScores& units) {
  limit_ = limit, allowed_ = allowed, units_ = units;
  far_ = kFarBelow * static_cast<double>(order_) + std::max(0.0, cascade_->best.score - limit);
}

double Onward::find_mass(Cascade& cascade, const NgramTable& ngrams, Index order) {
  begin(cascade, ngrams, order);
  sum_ = true;
  for (Index t = cascade.length() + 1; t > 0; --t) step_back(t), join(t - 1);
  sum_ = false;
  return leaving_[0];
}

void Onward::step_back(Index t) {
  go_back(t);
  for (Index m = 1; m <= order_; ++m) leave(t, m);
  named_begin_[t - 1] = named_.size();
}

void Onward::join(Index t) {
  const Level& last = cascade_->level(order_);
  for (std::uint32_t r = last.begin[t]; r < last.begin[t + 1]; ++r) {
    gather(on_[order_][r], lower_[order_][r]);
    gather(leaving_[r], lower_[order_][r]);
  }
}

// Makes the ways on from coarse tags of the position before.
void Onward::go_back(Index t) {
  const Level& one = cascade_->level(1);
  const NgramBounds& bounds = *cascade_->bounds;
  const Index W = width_;
  ahead_.assign(W, kNever<double>);
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
    gather(ahead_[bounds.group(one.label[s])], one.node[s] + on_[1][s]);
  lead_to_rests(t);
  for (Index h = 0; h < W; ++h) {
    if (ahead_[h] == kNever<double>) continue;
    gather_all(row(to_label_, t - 1), bounds.coarse_into(t) + h * W, ahead_[h]);
    gather_all(row(own_to_label_, t - 1), bounds.departing_into(t) + h * W, ahead_[h]);
  }
  if (t == 1) return;
  if (limit_ != kNever<double>) name_labels(t - 1);
  make_rests(t);
}

// Goes on to degenerate labels of a position.
void Onward::lead_to_rests(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Index W = width_;
  double* const to_rest = row(to_rest_, t - 1);
  bool is_far = false;
  const double *const after = row(after_, t), *const in = row(entering_, t);
  const double least = *std::max_element(ahead_.begin(), ahead_.end()) - far_;
  for (Index h = 0; h + 1 < W; ++h) {
    if (after[h] == kNever<double>) continue;
    if (after[h] + bounds.most_into(t, h) <= least) {
      is_far = true;
      continue;
    }
    const double *const coarse = bounds.coarse_into(t) + h * W, *const entering = bounds.entering_into(t) + h * W;
    if (!sum_) raise_least(to_rest, coarse, after[h], entering, in[h], W);
    for (Index g = 0; sum_ && g < W; ++g) gather(to_rest[g], std::min(coarse[g] + after[h], entering[g] + in[h]));
  }
  for (Index g = 0; is_far && g < W; ++g) raise(to_rest[g], least);
  double* const to_other = row(to_other_, t - 1);
  std::copy_n(to_rest, W, to_other);
  for (const Named& label : named(t))
    raise_all(to_other, bounds.coarse_into(t) + bounds.group(label.label) * W,
              static_cast<double>(bounds.ending(t, label.label) + label.score) + label.on, W);
}

// Makes the ways on from before the degenerate labels of the position before.
void Onward::make_rests(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Index W = width_;
  const RestScore* const rest = cascade_->rest(t - 1);
  for (Index g = 0; g + 1 < W; ++g) {
    rest_own_[g] = static_cast<double>(rest[g].own), rest_ending_[g] = static_cast<double>(rest[g].ending);
    rest_around_[g] = static_cast<double>(rest[g].around);
  }
  around_ahead_.assign(W, kNever<double>);
  for (Index h = 0; h < W; ++h) {
    if (ahead_[h] == kNever<double>) continue;
    const double *const coarse = bounds.coarse_into(t) + h * W, *const departing = bounds.departing_into(t) + h * W;
    if (!sum_)
      raise_least_sums(around_ahead_.data(), rest_around_.data(), coarse, rest_ending_.data(), departing, ahead_[h], W);
    for (Index g = 0; sum_ && g < W; ++g)
      gather(around_ahead_[g], ahead_[h] + std::min(rest_around_[g] + coarse[g], rest_ending_[g] + departing[g]));
  }
  const double* const excess = contexts_.excess(t - 1);
  double *const after = row(after_, t - 1), *const entering = row(entering_, t - 1),
                *const to_other = row(to_other_, t - 1), *const own_to_label = row(own_to_label_, t - 1);
  for (Index g = 0; g + 1 < W; ++g) {
    if (rest[g].own == kNever<float>) continue;
    after[g] = rest_ending_[g] + to_other[g];
    gather(after[g], excess[g] + around_ahead_[g]);
    entering[g] = to_other[g];
    gather(entering[g], excess[g] + own_to_label[g]);
    entering[g] += rest_own_[g];
  }
}

// What longer n-grams may add to an edge of order m.
float Onward::above_edge(Index t, Index m, std::uint32_t r, std::uint32_t s) const {
  const Level& level = cascade_->level(m);
  const Key full = mix(level.full[r], static_cast<Key>(level.label[s]));
  if (m == 1) return cascade_->bounds->above_labels(full) + contexts_.above(t, r, s);
  return cascade_->bounds->above(full, mix(level.coarse[r], cascade_->group_of(level.label[s])));
}

// What they may add to a state of order m that was entered from the order below.
float Onward::above_state(Index t, Index m, std::uint32_t s) const {
  const Level& level = cascade_->level(m);
  if (m > 2) return cascade_->bounds->above(level.full[s], level.coarse[s]);
  return cascade_->bounds->above_labels(level.full[s]) + contexts_.above(t, level.prev[s], level.cur[s]);
}

// Makes the ways on from states of order m of the position before.
void Onward::leave(Index t, Index m) {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r)
    lower_[m][r] = m > 1 ? lower_[m - 1][level.cur[r]] : to_rest(t - 1, bounds.group(level.label[r]));
  if (m == 1) leave_to_named(t);
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on = level.node[s] + on_[m][s];
    // What longer n-grams may add at most is at hand; what they may add to these labels is asked for where it matters.
    const float most_labels = bounds.most_above_labels(level.label[s]);
    const float most_tags = bounds.most_above_tags(cascade_->group_of(level.label[s]));
    const auto is_below = [&](float most, double least) { return !sum_ && on + static_cast<double>(most) <= least; };
    if (m > 1) {
      double& before = on_[m - 1][level.prev[s]];
      const float tags = m > 2 ? most_tags : contexts_.above(t, level.prev[s], level.cur[s]);
      if (!is_below(most_labels + tags, before)) gather(before, on + static_cast<double>(above_state(t, m, s)));
    }
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      if (m == order_) {
        gather(on_[m][r], on + static_cast<double>(level.edge[e]));
        gather(leaving_[r], level.node[s] + leaving_[s] + static_cast<double>(level.edge[e]));
      } else if (!cascade_->kept(m, s) || !cascade_->kept(m, r)) {
        float weight = level.edge[e] + (most_labels + (m > 1 ? most_tags : contexts_.above(t, r, s)));
        if (!is_below(weight, lower_[m][r])) {
          weight = level.edge[e] + above_edge(t, m, r, s);
          gather(lower_[m][r], on + static_cast<double>(weight));
        }
        if (m == 1) pairs_[e] = weight;
      }
  }
  for (std::uint32_t r = level.begin[t - 1]; m < order_ && r < level.begin[t]; ++r) gather(on_[m][r], lower_[m][r]);
}

double Onward::through_rest(Index t, Unit before, Index g) const {
  const NgramBounds& bounds = *cascade_->bounds;
  const Index i = t * width_ + g, at = static_cast<Index>(before) * width_ + g;
  return std::min(bounds.coarse(t)[at] + after_[i], bounds.entering(t)[at] + entering_[i]);
}

double Onward::from_label(Index t, Label y) const {
  const Unit g = cascade_->bounds->group(y);
  const Index i = t * width_ + g;
  const double leaving = static_cast<double>(cascade_->bounds->leaving(t, y));
  return std::max(to_other_[i], contexts_.excess(t)[g] + std::min(leaving + to_label_[i], own_to_label_[i]));
}

}  // namespace certus::scoring
