#include "scoring/onward_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log_sums.hpp"
#include "base/vector.hpp"

namespace certus::scoring {
namespace {

// Ways on by labels that are no candidates are told apart only where they are not so much worse than the best, for
// each label that n-grams look back.
constexpr double kFarBelow = 0.7;

void raise(double& x, double y) { x = std::max(x, y); }

// x[i] = max(x[i], y[i] + z)
CERTUS_CLONES void raise_all(double* __restrict x, const double* __restrict y, double z, Index n) {
  for (Index b = 0; b < n; b += kTagBlock)
    for (Index i = b; i < b + kTagBlock; ++i) x[i] = y[i] + z > x[i] ? y[i] + z : x[i];
}

}  // namespace

// Takes the larger of two, or adds up the numbers that they are the logarithms of.
void Onward::gather(double& x, double y) const {
  if (sum_) x = (Logarithm{x} + Logarithm{y}).log;
  else raise(x, y);
}

void Onward::begin(Cascade& cascade, const NgramTable& ngrams, Index order) {
  cascade_ = &cascade, ngrams_ = &ngrams, order_ = order;
  stride_ = cascade.bounds->stride();
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
  for (auto* values : {&to_rest_, &to_other_, &to_label_, &own_to_label_, &after_, &entering_}) {
    values->resize(P * stride_);
    std::fill_n(row(*values, P - 1), stride_, kNever<double>);
  }
  for (auto* values : {&alone_, &own_alone_, &through_}) values->resize(stride_);
  for (auto* values : {&ahead_, &reached_}) values->assign(stride_, kNever<double>);
  limit_ = kNever<double>, far_ = -kNever<double>;
  named_.clear();
  named_begin_.assign(P + 1, 0);
}

void Onward::tell_apart(double limit, const Allowed* allowed, const UnitScores& units) {
  limit_ = limit, allowed_ = allowed, units_ = units;
  far_ = kFarBelow * static_cast<double>(order_) + std::max(0.0, cascade_->best.score - limit);
}

// Asks for memory that the next step needs.
void Onward::prefetch(Index t) const {
  for (Index m = 2; m <= order_; ++m) {
    const Level& level = cascade_->level(m);
    for (std::uint32_t s = level.begin[t - 1]; s < level.begin[t]; ++s) {
      cascade_->bounds->prefetch(level.full[s]);
      if (m > 2) cascade_->bounds->prefetch(level.coarse[s]);
    }
  }
}

void Onward::step_back(Index t) {
  prefetch(t);
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

// Lists the coarse tags of candidates, with the best ways on.
void Onward::look_ahead(Index t) {
  const Level& one = cascade_->level(1);
  ahead_leads_.clear();
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) {
    const Unit g = cascade_->bounds->group(one.label[s]);
    if (ahead_[g] == kNever<double>) ahead_leads_.push_back({static_cast<Index>(g), 0});
    gather(ahead_[g], one.node[s] + on_[1][s]);
  }
  for (TagLead& lead : ahead_leads_) lead.score = std::exchange(ahead_[lead.tag], kNever<double>);
}

AloneRows Onward::rows_from(Index t) const {
  return {alone_.data(),     own_alone_.data(),     row(to_other_, t),
          row(to_label_, t), row(own_to_label_, t), contexts_.excess(t)};
}

// Makes the ways on from coarse tags of the position before, and from before its degenerate labels.
void Onward::go_back(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  look_ahead(t);
  lead_to_rests(t);
  const TagPairs coarse = bounds.coarse_into(t), departing = bounds.departing_into(t);
  lead_tags(sum_, ahead_leads_, coarse, departing, row(to_label_, t - 1), row(own_to_label_, t - 1));
  if (t == 1) return;
  if (limit_ != kNever<double>) name_labels(t - 1);
  if (sum_) rests_->go_through(t - 1, ahead_leads_, bounds.coarse(t), row(to_other_, t - 1), contexts_.excess(t - 1));
  pass_rests(sum_, ahead_leads_, coarse, departing, cascade_->rest(t - 1), rows_from(t - 1), row(after_, t - 1),
             row(entering_, t - 1));
}

// Goes on to degenerate labels of a position: those that are far below the best are all the same.
void Onward::lead_to_rests(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  const double *const after = row(after_, t), *const entering = row(entering_, t);
  double *const to_rest = row(to_rest_, t - 1), *const to_other = row(to_other_, t - 1);
  double least = kNever<double>;
  for (const TagLead& lead : ahead_leads_) raise(least, lead.score);
  least -= far_;
  for (Index i = 0; i < stride_; ++i) through_[i] = after[i] + bounds.most_into(t)[i];
  leads_.clear();
  const bool is_far = list_above(through_.data(), least, stride_, open_);
  for (const Index h : open_) leads_.push_back({h, after[h], entering[h]});
  lead_tags_either_way(sum_, leads_, bounds.coarse_into(t), bounds.entering_into(t), to_rest);
  for (Index g = 0; is_far && g <= bounds.groups(); ++g) raise(to_rest[g], least);
  if (sum_ && t <= cascade_->length()) lead_to_labels(t);
  std::copy_n(to_rest, stride_, to_other);
  for (const Named& label : named(t))
    raise_all(to_other, bounds.coarse_into(t).row(bounds.group(label.label)),
              static_cast<double>(bounds.ending(t, label.label) + label.score) + label.on, stride_);
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

// Begins the ways on from states of order m of the position before with those of the order below.
void Onward::pass_on(Index t, Index m) {
  const Level& level = cascade_->level(m);
  const std::uint32_t first = level.begin[t - 1], last = level.begin[t];
  double* const lower = lower_[m].data();
  if (m == 1) {
    const double* const to_rest = row(to_rest_, t - 1);
    for (std::uint32_t r = first; r < last; ++r) lower[r] = to_rest[cascade_->bounds->group(level.label[r])];
  } else {
    const double* const below = lower_[m - 1].data();
    for (std::uint32_t r = first; r < last; ++r) lower[r] = below[level.cur[r]];
  }
}

// Makes the ways on from states of order m of the position before.
void Onward::leave(Index t, Index m) {
  pass_on(t, m);
  if (m == 1) leave_to_named(t);
  else enter_from_below(t, m);
  if (m == order_) return follow_lattice(t);
  follow_dropped(t, m);
  const Level& level = cascade_->level(m);
  double *const on = on_[m].data(), *const lower = lower_[m].data();
  for (std::uint32_t r = level.begin[t - 1]; r < level.begin[t]; ++r) gather(on[r], lower[r]);
}

// Goes back from states of order m to those of the order below. What longer n-grams may add at most is at hand; what
// they may add to these labels is asked for where it matters.
void Onward::enter_from_below(Index t, Index m) {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  double* const below = on_[m - 1].data();
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on = level.node[s] + on_[m][s];
    double& before = below[level.prev[s]];
    const float tags = m > 2 ? bounds.most_above_tags(cascade_->group_of(level.label[s]))
                             : contexts_.above(t, level.prev[s], level.cur[s]);
    if (!sum_ && on + static_cast<double>(bounds.most_above_labels(level.label[s]) + tags) <= before) continue;
    gather(before, on + static_cast<double>(above_state(t, m, s)));
  }
}

// Goes back along all edges of the last lattice.
void Onward::follow_lattice(Index t) {
  const Level& level = cascade_->level(order_);
  double *const on = on_[order_].data(), *const leaving = leaving_.data();
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on_here = level.node[s] + on[s], leaving_here = level.node[s] + leaving[s];
    const float* edge = level.edge.data() + level.edge_begin[s];
    for (std::uint32_t r = level.from[s], last = r + level.edges(s); r < last; ++r, ++edge) {
      gather(on[r], on_here + static_cast<double>(*edge));
      gather(leaving[r], leaving_here + static_cast<double>(*edge));
    }
  }
}

// Goes back along edges of order m between states that were not both kept.
void Onward::follow_dropped(Index t, Index m) {
  const Level& level = cascade_->level(m);
  const NgramBounds& bounds = *cascade_->bounds;
  const std::uint8_t* const kept = cascade_->kept(m);
  double* const lower = lower_[m].data();
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on = level.node[s] + on_[m][s];
    const float labels = bounds.most_above_labels(level.label[s]);
    const float tags = m > 1 ? bounds.most_above_tags(cascade_->group_of(level.label[s])) : 0;
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r) {
      if (kept[s] && kept[r] && cascade_->kept_edge(m, e)) continue;
      float weight = level.edge[e] + (labels + (m > 1 ? tags : contexts_.above(t, r, s)));
      if (sum_ || on + static_cast<double>(weight) > lower[r]) {
        weight = level.edge[e] + above_edge(t, m, r, s);
        gather(lower[r], on + static_cast<double>(weight));
      }
      if (m == 1) pairs_[e] = weight;
    }
  }
}

double Onward::through_rest(Index t, Unit before, Index g) const {
  const NgramBounds& bounds = *cascade_->bounds;
  return std::min(bounds.coarse(t).row(before)[g] + row(after_, t)[g],
                  bounds.entering(t).row(before)[g] + row(entering_, t)[g]);
}

double Onward::from_label(Index t, Label y) const {
  const Unit g = cascade_->bounds->group(y);
  const Index i = t * stride_ + g;
  const double leaving = static_cast<double>(cascade_->bounds->leaving(t, y));
  return std::max(to_other_[i], contexts_.excess(t)[g] + std::min(leaving + to_label_[i], own_to_label_[i]));
}

}  // namespace certus::scoring
