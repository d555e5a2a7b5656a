// Labels that are no candidates and are followed one by one, because as part of a degenerate label they would hide that
// nothing was lost.
//
// One label whose bound is far too high lifts the bounds of all sequences, so that labels at all other positions look
// as if they might be better, too. Which ones are to blame is seen where each stands alone: after the best path of the
// last lattice to the position before, and before the best one on. That is no bound of sequences with several dropped
// labels; it only chooses the labels.
#include <algorithm>

#include "base/vector.hpp"
#include "scoring/outside.hpp"

namespace certus::scoring {
namespace {

constexpr std::size_t kNamedPerToken = 4;

}  // namespace

void Outside::name_labels(double limit, double margin, const Allowed* allowed, const Score& score) {
  const NgramBounds& bounds = *cascade_->bounds;
  limit_ = limit - margin;
  lead_alone();
  go_on_alone();
  places_.resize(bounds.places());
  for (Index t = 1; t <= cascade_->length(); ++t) {
    const float* scores = nullptr;
    for (Index g = 0, i = t * width_; g + 1 < width_; ++g, ++i) {
      RestScore& rest = cascade_->rest(t)[g];
      if (rest.own == kNever<float> || !(bound_alone(i, rest) + contexts_.excess(t)[g] > limit_)) continue;
      if (!scores) {
        scores = score(t);
        list_neighbours(t);
      }
      cascade_->score_dropped(t, g, scores, allowed ? allowed[t - 1] : Allowed{}, places_.data());
      name_labels_of(t, g);
      const Index first = bounds.begin(g);
      rest = find_largest_sums(places_.data() + first, bounds.ending(t) + first, bounds.around(t) + first,
                               bounds.begin(g + 1) - first);
    }
    named_begin_[t + 1] = named_.size();
  }
  named_begin_.back() = named_.size();
}

// Makes the best ways to coarse tags from paths of the last lattice.
void Outside::lead_alone() {
  const Index P = cascade_->length() + 2, W = width_;
  const NgramBounds& bounds = *cascade_->bounds;
  const Level& last = cascade_->level(order_);
  after_.assign(P * W, kNever<double>), entering_.assign(P * W, kNever<double>);
  for (Index t = 1; t < P - 1; ++t) {
    ahead_.assign(W, kNever<double>);
    for (std::uint32_t s = last.begin[t - 1]; s < last.begin[t]; ++s)
      raise(ahead_[bounds.group(last.label[s])], (*best_)[s]);
    for (Index h = 0; h < W; ++h) {
      if (ahead_[h] == kNever<double>) continue;
      raise_all(after_.data() + t * W, bounds.coarse(t) + h * W, ahead_[h], W);
      raise_all(entering_.data() + t * W, bounds.entering(t) + h * W, ahead_[h], W);
    }
  }
}

// Makes the best ways on from coarse tags to candidates, and from these along states that stayed.
void Outside::go_on_alone() {
  const Index P = cascade_->length() + 2, W = width_;
  const NgramBounds& bounds = *cascade_->bounds;
  const Level& one = cascade_->level(1);
  to_label_.assign(P * W, kNever<double>), own_to_label_.assign(P * W, kNever<double>);
  for (Index m = 1; m <= order_; ++m) {
    onward_[m].assign(cascade_->level(m).size(), kNever<double>);
    onward_[m].back() = 0;
  }
  for (Index t = P - 1; t > 1; --t) {
    for (Index m = order_; m >= 1; --m) leave_alone(t, m);
    ahead_.assign(W, kNever<double>);
    for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s)
      raise(ahead_[bounds.group(one.label[s])], one.node[s] + onward_[1][s]);
    for (Index h = 0; h < W; ++h) {
      if (ahead_[h] == kNever<double>) continue;
      raise_all(to_label_.data() + (t - 1) * W, bounds.coarse_into(t) + h * W, ahead_[h], W);
      raise_all(own_to_label_.data() + (t - 1) * W, bounds.departing_into(t) + h * W, ahead_[h], W);
    }
  }
}

void Outside::leave_alone(Index t, Index m) {
  const Level& level = cascade_->level(m);
  for (std::uint32_t s = level.begin[t]; s < level.begin[t + 1]; ++s) {
    const double on = level.node[s] + onward_[m][s];
    if (on == kNever<double>) continue;
    if (m > 1) raise(onward_[m - 1][level.prev[s]], on + static_cast<double>(above_state(t, m, s)));
    std::uint32_t r = level.from[s];
    for (std::uint32_t e = level.edge_begin[s]; m == order_ && e < level.edge_begin[s + 1]; ++e, ++r)
      raise(onward_[m][r], on + static_cast<double>(level.edge[e]));
  }
}

// The largest score of a sequence with a label of a coarse tag that is no candidate, between paths of the last lattice.
double Outside::bound_alone(Index i, const RestScore& rest) const {
  const double own = entering_[i] + static_cast<double>(rest.own),
               ending = after_[i] + static_cast<double>(rest.ending),
               around = after_[i] + static_cast<double>(rest.around);
  return std::min(around + to_label_[i], std::min(own, ending) + own_to_label_[i]);
}

// Of a coarse tag, the labels that alone may be better by what their neighbours' coarse tags allow; their scores are
// replaced by -inf.
void Outside::name_labels_of(Index t, Index g) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Index i = t * width_ + g;
  const double least = limit_ - contexts_.excess(t)[g];
  const float *const ending = bounds.ending(t), *const around = bounds.around(t);
  for (Index place = bounds.begin(g); place < bounds.begin(g + 1); ++place) {
    const float own = places_[place];
    if (bounds.at(place) < 0 || !(bound_alone(i, {own, own + ending[place], own + around[place]}) > least)) continue;
    if (named_.size() >= kNamedPerToken * static_cast<std::size_t>(cascade_->length())) return;
    name_label(t, bounds.at(place), places_[place]);
    places_[place] = kNever<float>;
  }
}

void Outside::name_label(Index t, Label y, float score) {
  const Level& one = cascade_->level(1);
  const Unit group = cascade_->group_of(y);
  named_.push_back({t, y, score, kNever<double>, named_weights_.size()});
  const auto weigh = [&](Key full, Key coarse) {
    named_weights_.push_back(ngrams_->at(full) + ngrams_->at(coarse));
    named_weights_.push_back(cascade_->bounds->above(full, coarse));
  };
  for (std::uint32_t r = one.begin[t - 1]; r < one.begin[t]; ++r)
    weigh(mix(one.full[r], static_cast<Key>(y)), mix(one.coarse[r], group));
  const Key full = mix(1, static_cast<Key>(y)), coarse = mix(2, group);
  for (std::uint32_t s = one.begin[t + 1]; s < one.begin[t + 2]; ++s)
    weigh(mix(full, static_cast<Key>(one.label[s])), mix(coarse, cascade_->group_of(one.label[s])));
}

// Makes the best sequences up to the named labels of a position, after degenerate labels, candidates and named ones.
void Outside::enter_named(Index t) {
  const Level& one = cascade_->level(1);
  const NgramBounds& bounds = *cascade_->bounds;
  for (std::size_t i = named_begin_[t]; i < named_begin_[t + 1]; ++i) {
    Named& named = named_[i];
    const Unit told = bounds.group(named.label);
    lead_from_rests(t, told);
    double most = from_rests_ + static_cast<double>(bounds.ending(t, named.label));
    const float* weight = named_weights_.data() + named.weights;
    for (std::uint32_t r = one.begin[t - 1]; r < one.begin[t]; ++r, weight += 2) {
      if (!(any_[1][r] + static_cast<double>(weight[0] + weight[1]) > most)) continue;
      const double way = std::min(any_[1][r] + static_cast<double>(weight[1]), reach(t - 1, 1, r, named.label, kNone));
      raise(most, way + static_cast<double>(weight[0]));
    }
    for (std::size_t j = named_begin_[t - 1]; j < named_begin_[t]; ++j) {
      const Key full = mix(mix(1, static_cast<Key>(named_[j].label)), static_cast<Key>(named.label)),
                coarse = mix(mix(2, cascade_->group_of(named_[j].label)), cascade_->group_of(named.label));
      raise(most,
            named_[j].out + static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse) + bounds.above(full, coarse)));
    }
    named.out = most + static_cast<double>(named.score);
    raise(before_[t * width_ + told], named.out);
  }
}

// The best way from named labels to a candidate.
double Outside::lead_from_named(Index t, std::uint32_t s) const {
  const Level& one = cascade_->level(1);
  const std::size_t skipped = 2 * static_cast<std::size_t>(t > 1 ? one.states(t - 2) : 0);
  double most = kNever<double>;
  for (std::size_t i = named_begin_[t - 1]; i < named_begin_[t]; ++i) {
    const float* const weight = named_weights_.data() + named_[i].weights + skipped + 2 * std::size_t{s - one.begin[t]};
    const Unit told = cascade_->bounds->group(named_[i].label);
    raise(most, named_[i].out + contexts_.excess(t - 1)[told] + static_cast<double>(weight[0] + weight[1]));
  }
  return most;
}

// Named labels are part of degenerate ones again.
void Outside::forget_names() {
  for (const Named& named : named_) {
    cascade_->raise_rest(named.position, named.label, named.score);
    raise(followed_[named.position * width_ + cascade_->bounds->group(named.label)], named.out);
  }
  named_.clear(), named_weights_.clear();
  std::fill(named_begin_.begin(), named_begin_.end(), 0);
}

}  // namespace certus::scoring
