// Labels that are no candidates and are followed by themselves, because as part of a degenerate label they would lift
// the bounds of all sequences before them.
//
// Which ones those are is seen where each stands alone, after the best path of the last lattice to the position before.
// That is no bound of sequences that have left the lattice before; it only chooses the labels.
#include <algorithm>

#include "scoring/onward_bounds.hpp"

namespace certus::scoring {
namespace {

constexpr std::size_t kNamedPerToken = 4;

}  // namespace

void Onward::name_labels(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  const double* const excess = contexts_.excess(t);
  const double most = lead_alone(t);
  for (Index g = 0; g + 1 < width_; ++g) {
    RestScore& rest = cascade_->rest(t)[g];
    const Index i = t * width_ + g;
    const double least = limit_ - most - std::max(to_other_[i], excess[g] + to_label_[i]);
    if (!(static_cast<double>(rest.around) > least)) continue;
    if (!(bound_alone(i, excess[g], rest) > limit_)) continue;
    places_.resize(bounds.places(), kNever<float>);  // places between labels stay so
    cascade_->score_dropped(t, g, units_.at(t), allowed_ ? allowed_[t - 1] : Allowed{}, places_.data());
    name_labels_of(t, g, least);
    const Index first = bounds.begin(g);
    rest = find_largest_sums(places_.data() + first, bounds.ending(t) + first, bounds.around(t) + first,
                             bounds.begin(g + 1) - first);
  }
}

void Onward::put_back() {
  for (const Named& label : named_) cascade_->raise_rest(label.position, label.label, label.score);
}

// Makes the best ways to coarse tags from paths of the last lattice; the best of all.
double Onward::lead_alone(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Level& last = cascade_->level(order_);
  const std::vector<double>& best = cascade_->paths.best;
  reached_.assign(width_, kNever<double>);
  for (std::uint32_t s = last.begin[t - 1]; s < last.begin[t]; ++s)
    reached_[bounds.group(last.label[s])] = std::max(reached_[bounds.group(last.label[s])], best[s]);
  alone_.assign(width_, kNever<double>), own_alone_.assign(width_, kNever<double>);
  double most = kNever<double>;
  for (Index h = 0; h < width_; ++h) {
    if (reached_[h] == kNever<double>) continue;
    gather_all(alone_.data(), bounds.coarse(t) + h * width_, reached_[h]);
    gather_all(own_alone_.data(), bounds.entering(t) + h * width_, reached_[h]);
    most = std::max(most, reached_[h] + bounds.most_after(t, h));
  }
  return most;
}

// The largest score of a sequence with a label of a coarse tag that is no candidate, after a path of the last lattice.
double Onward::bound_alone(Index i, double excess, const RestScore& rest) const {
  const Index g = i % width_;
  const double ending = std::min(own_alone_[g] + static_cast<double>(rest.own),
                                 alone_[g] + static_cast<double>(rest.ending)),
               around = alone_[g] + static_cast<double>(rest.around);
  return std::max(ending + to_other_[i], excess + std::min(around + to_label_[i], ending + own_to_label_[i]));
}

// Of a coarse tag, the labels that alone may be better by what their neighbours' coarse tags allow; their scores are
// replaced by -inf. They have to score more than `least` with n-grams.
void Onward::name_labels_of(Index t, Index g, double least) {
  const NgramBounds& bounds = *cascade_->bounds;
  const double excess = contexts_.excess(t)[g];
  const float *const ending = bounds.ending(t), *const around = bounds.around(t);
  for (Index place = bounds.begin(g); place < bounds.begin(g + 1); ++place) {
    const float own = places_[place];
    if (!(static_cast<double>(own + around[place]) > least) || bounds.at(place) < 0) continue;
    if (!(bound_alone(t * width_ + g, excess, {own, own + ending[place], own + around[place]}) > limit_)) continue;
    if (named_.size() >= kNamedPerToken * static_cast<std::size_t>(cascade_->length())) return;
    named_.push_back({t, bounds.at(place), own, find_way_on(t, bounds.at(place))});
    places_[place] = kNever<float>;
  }
}

// The best way on from a label that is no candidate, with the n-grams that it makes with the next candidates.
double Onward::find_way_on(Index t, Label y) const {
  const Level& one = cascade_->level(1);
  const NgramBounds& bounds = *cascade_->bounds;
  const Unit told = bounds.group(y);
  const Key full = mix(1, static_cast<Key>(y)), coarse = mix(2, cascade_->group_of(y));
  const double excess = contexts_.excess(t)[told], other = to_other_[t * width_ + told];
  const double* const pairs = bounds.coarse(t + 1) + static_cast<Index>(told) * width_;
  const Index place = bounds.place(y);
  double most = other - excess;
  for (std::uint32_t s = one.begin[t + 1]; s < one.begin[t + 2]; ++s) {
    const double on = one.node[s] + on_[1][s];
    const Unit next = bounds.group(one.label[s]);
    if (on + pairs[next] + static_cast<double>(bounds.leaving_to(next)[place]) <= most) continue;
    const Key labels = mix(full, static_cast<Key>(one.label[s])), tags = mix(coarse, cascade_->group_of(one.label[s]));
    most =
        std::max(most, on + static_cast<double>(ngrams_->at(labels) + ngrams_->at(tags) + bounds.above(labels, tags)));
  }
  return std::max(most + excess, other);
}

// Goes on to such labels from candidates of the position before.
void Onward::leave_to_named(Index t) {
  const Level& one = cascade_->level(1);
  const NgramBounds& bounds = *cascade_->bounds;
  for (const Named& label : named(t)) {
    const double on = static_cast<double>(label.score) + label.on;
    const Unit group = cascade_->group_of(label.label);
    const Unit told = bounds.group(label.label);
    const Index place = bounds.place(label.label);
    for (std::uint32_t r = one.begin[t - 1]; r < one.begin[t]; ++r) {
      const Unit before = bounds.group(one.label[r]);
      if (on + bounds.coarse(t)[static_cast<Index>(before) * width_ + told] +
              static_cast<double>(bounds.ending_after(before)[place]) <=
          lower_[1][r])
        continue;
      const Key full = mix(one.full[r], static_cast<Key>(label.label)), coarse = mix(one.coarse[r], group);
      gather(lower_[1][r],
             on + static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse) + bounds.above(full, coarse)));
    }
  }
}

}  // namespace certus::scoring
