// The recurrence of onward_bounds.hpp in sums: those of a position are added up as they are, all relative to the
// largest, and their logarithms taken once. Where numbers would be out of range, logarithms are added one by one.
#include <algorithm>
#include <utility>

#include "scoring/log_rows.hpp"
#include "scoring/onward_bounds.hpp"

namespace certus::scoring {
namespace {

// How far apart numbers of a position may be, and what n-grams may add to them, so that no sum is out of range.
constexpr double kMostApart = 300, kMostAdded = 150;

}  // namespace

double Onward::find_mass(Cascade& cascade, const NgramTable& ngrams, Index order, RestSums& rests) {
  begin(cascade, ngrams, order);
  sum_ = true, rests_ = &rests;
  for (Index t = cascade.length() + 1; t > 0; --t) {
    double shift = kNever<double>;
    prefetch(t);
    go_back(t);
    if (find_shift(t, shift)) {
      add_up(t, shift);
    } else {
      for (Index m = 1; m <= order; ++m) leave(t, m);
      join(t - 1);
    }
  }
  sum_ = false;
  return leaving_[0];
}

// The largest number that the ways on from position t lead back; false if others are too far from it.
bool Onward::find_shift(Index t, double& shift) const {
  if (!cascade_->sums.has_factors() || cascade_->bounds->heaviest() > kMostAdded) return false;
  double least = -kNever<double>;
  const auto look_at = [&](double x) {
    shift = std::max(shift, x);
    if (x != kNever<double>) least = std::min(least, x);
  };
  for (Index m = 1; m <= order_; ++m) {
    const Level& level = cascade_->level(m);
    for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) look_at(level.node[s] + on_[m][s]);
  }
  const Level& last = cascade_->level(order_);
  for (std::uint32_t s = last.begin[t]; s < last.begin[t + 1]; ++s) look_at(last.node[s] + leaving_[s]);
  const double* const to_rest = row(to_rest_, t - 1);
  for (Index g = 0; g <= cascade_->bounds->groups(); ++g) look_at(to_rest[g]);
  return shift - least <= kMostApart;
}

// Goes on to each label that is no candidate, from the coarse tags of candidates.
void Onward::lead_to_labels(Index t) {
  const Level& one = cascade_->level(1);
  double* const to_rest = row(to_rest_, t - 1);
  open_.clear();
  for (std::uint32_t s = one.begin[t - 1]; s < one.begin[t]; ++s) {
    const Unit g = cascade_->bounds->group(one.label[s]);
    if (std::exchange(reached_[g], 0) == 0) continue;
    open_.push_back(g);
    if (const double most = rests_->lead_from(g, cascade_->bounds->coarse(t)); most < to_rest[g]) to_rest[g] = most;
  }
  for (const Index g : open_) reached_[g] = kNever<double>;
}

void Onward::add_up(Index t, double shift) {
  for (Index m = 1; m <= order_; ++m) {
    pass_on(t, m);
    if (m > 1) add_up_entered(t, m, shift);
    if (m < order_) add_up_dropped(t, m, shift);
    const Level& level = cascade_->level(m);
    const auto lower = lower_[m].begin();
    std::copy(lower + level.begin[t - 1], lower + level.begin[t], on_[m].begin() + level.begin[t - 1]);
  }
  add_up_lattice(t);
}

// Goes back from states of order m to those of the order below.
void Onward::add_up_entered(Index t, Index m, double shift) {
  const Level &level = cascade_->level(m), &below = cascade_->level(m - 1);
  const std::uint32_t first = level.begin[t], count = level.states(t);
  weights_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i)
    weights_[i] = level.node[first + i] + on_[m][first + i] + static_cast<double>(above_state(t, m, first + i));
  exponentiate_row(weights_.data(), shift, count, weights_.data());
  sums_.assign(below.states(t - 1), 0);
  for (std::uint32_t i = 0; i < count; ++i) sums_[level.prev[first + i] - below.begin[t - 1]] += weights_[i];
  add_logs_of(sums_.data(), shift, below.states(t - 1), on_[m - 1].data() + below.begin[t - 1]);
}

// Goes back along edges of order m between states that were not both kept.
void Onward::add_up_dropped(Index t, Index m, double shift) {
  const Level& level = cascade_->level(m);
  const std::uint8_t* const kept = cascade_->kept(m);
  const std::uint32_t first = level.begin[t], end = level.begin[t + 1], before = level.begin[t - 1];
  const std::uint32_t first_edge = level.edge_begin[first], edges = level.edge_begin[end] - first_edge;
  weights_.resize(edges);
  for (std::uint32_t s = first; s < end; ++s) {
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; e < level.edge_begin[s + 1]; ++e, ++r)
      weights_[e - first_edge] = kept[s] && kept[r] && cascade_->kept_edge(m, e)
                                     ? kNever<double>
                                     : static_cast<double>(level.edge[e] + above_edge(t, m, r, s));
  }
  exponentiate_row(weights_.data(), 0, edges, weights_.data());
  ahead_weights_.resize(end - first);
  for (std::uint32_t s = first; s < end; ++s) ahead_weights_[s - first] = level.node[s] + on_[m][s];
  exponentiate_row(ahead_weights_.data(), shift, end - first, ahead_weights_.data());
  sums_.assign(level.states(t - 1), 0);
  for (std::uint32_t s = first; s < end; ++s)
    add_multiple(weights_.data() + (level.edge_begin[s] - first_edge), ahead_weights_[s - first], level.edges(s),
                 sums_.data() + (level.from[s] - before));
  add_logs_of(sums_.data(), shift, level.states(t - 1), lower_[m].data() + before);
}

// Goes back along all edges of the last lattice, to what leaves it at once.
void Onward::add_up_lattice(Index t) {
  const Level& level = cascade_->level(order_);
  const std::uint32_t first = level.begin[t], count = level.states(t);
  const std::uint32_t before = level.begin[t - 1], count_before = level.states(t - 1);
  double *const on = on_[order_].data(), *const leaving = leaving_.data();
  const double most = *std::max_element(on + first, on + first + count);
  ahead_weights_.resize(count), leaving_weights_.resize(count);
  exponentiate_row(on + first, most, count, ahead_weights_.data());
  exponentiate_row(leaving + first, most, count, leaving_weights_.data());
  sums_.assign(std::size_t{2} * count_before, 0);
  const double* const factors = cascade_->sums.factors();
  for (std::uint32_t s = first; s < first + count; ++s) {
    double* const sums = sums_.data() + (level.from[s] - before);
    add_multiples(factors + level.edge_begin[s], ahead_weights_[s - first], leaving_weights_[s - first], level.edges(s),
                  sums, sums + count_before);
  }
  std::copy_n(on + before, count_before, leaving + before);
  const double shift = most + cascade_->sums.largest(t);
  add_logs_of(sums_.data(), shift, count_before, on + before);
  add_logs_of(sums_.data() + count_before, shift, count_before, leaving + before);
}

}  // namespace certus::scoring
