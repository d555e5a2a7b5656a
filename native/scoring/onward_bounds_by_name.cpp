// Labels that are no candidates and are followed by themselves, because as part of a degenerate label they would lift
// the bounds of all sequences before them.
//
// Which ones those are is seen where each stands alone, after the best path of the last lattice to the position before.
// That is no bound of sequences that have left the lattice before; it only chooses the labels.
#include <algorithm>
#include <utility>

#include "scoring/onward_bounds.hpp"

namespace certus::scoring {
namespace {

constexpr std::size_t kNamedPerToken = 4;
// Coarse tags are looked at more closely where they may lead so far below the limit: others are bounded by them, too.
constexpr double kNearly = 1;

}  // namespace

void Onward::name_labels(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  lead_alone(t);
  bound_rests(cascade_->rest(t), rows_from(t), stride_, through_.data());
  list_above(through_.data(), limit_ - kNearly, stride_, open_);
  for (const Index g : open_) {
    double most = through_[g];
    if (cascade_->refine_rest(t, g, units_.at(t))) most = bound_alone(t, g, cascade_->rest(t, g));
    if (!(most > limit_)) continue;
    places_.resize(bounds.places(), kNever<float>);  // places between labels stay so
    cascade_->score_dropped(t, g, units_.at(t), allowed_ ? allowed_[t - 1] : Allowed{}, places_.data());
    const Index first = bounds.begin(g), count = bounds.begin(g + 1) - first;
    const auto find_rest = [&] {
      return find_largest_sums(places_.data() + first, bounds.ending(t) + first, bounds.around(t) + first, count);
    };
    RestScore rest = find_rest();
    if (bound_alone(t, g, rest) > limit_ && name_labels_of(t, g)) rest = find_rest();
    cascade_->set_rest(t, g, rest);
  }
}

void Onward::put_back() {
  for (const Named& label : named_) cascade_->raise_rest(label.position, label.label, label.score);
}

// Makes the best ways to coarse tags from paths of the last lattice.
void Onward::lead_alone(Index t) {
  const NgramBounds& bounds = *cascade_->bounds;
  const Level& last = cascade_->level(order_);
  const std::vector<double>& best = cascade_->paths.best;
  leads_.clear();
  for (std::uint32_t s = last.begin[t - 1]; s < last.begin[t]; ++s) {
    const Unit g = bounds.group(last.label[s]);
    if (reached_[g] == kNever<double>) leads_.push_back({static_cast<Index>(g), 0});
    reached_[g] = std::max(reached_[g], best[s]);
  }
  for (TagLead& lead : leads_) lead.score = std::exchange(reached_[lead.tag], kNever<double>);
  lead_tags(false, leads_, bounds.coarse(t), bounds.entering(t), alone_.data(), own_alone_.data());
}

// The largest score of a sequence with a label of a coarse tag that is no candidate, after a path of the last lattice.
double Onward::bound_alone(Index t, Index g, const RestScore& rest) const {
  const AloneRows rows = rows_from(t);
  const double ending = std::min(rows.own_alone[g] + static_cast<double>(rest.own),
                                 rows.alone[g] + static_cast<double>(rest.ending)),
               around = rows.alone[g] + static_cast<double>(rest.around);
  return std::max(ending + rows.to_other[g],
                  rows.excess[g] + std::min(around + rows.to_label[g], ending + rows.own_to_label[g]));
}

// Of a coarse tag, the labels that alone may be better by what their neighbours' coarse tags allow; their scores are
// replaced by -inf. False if there are none, or too many.
bool Onward::name_labels_of(Index t, Index g) {
  const NgramBounds& bounds = *cascade_->bounds;
  const float *const ending = bounds.ending(t), *const around = bounds.around(t);
  const AloneRows rows = rows_from(t);
  const double least = limit_ - rows.alone[g] - std::max(rows.to_other[g], rows.excess[g] + rows.to_label[g]);
  const std::size_t before = named_.size();
  for (Index place = bounds.begin(g); place < bounds.begin(g + 1); ++place) {
    const float own = places_[place];
    if (!(static_cast<double>(own + around[place]) > least) || bounds.at(place) < 0) continue;
    if (!(bound_alone(t, g, {own, own + ending[place], own + around[place]}) > limit_)) continue;
    if (named_.size() >= kNamedPerToken * static_cast<std::size_t>(cascade_->length())) break;
    named_.push_back({t, bounds.at(place), own, find_way_on(t, bounds.at(place))});
    places_[place] = kNever<float>;
  }
  return named_.size() > before;
}

// The best way on from a label that is no candidate, with the n-grams that it makes with the next candidates.
double Onward::find_way_on(Index t, Label y) const {
  const Level& one = cascade_->level(1);
  const NgramBounds& bounds = *cascade_->bounds;
  const Unit told = bounds.group(y);
  const Key full = mix(1, static_cast<Key>(y)), coarse = mix(2, cascade_->group_of(y));
  const double excess = contexts_.excess(t)[told], other = row(to_other_, t)[told];
  const double* const pairs = bounds.coarse(t + 1).row(told);
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
      if (on + bounds.coarse(t).row(before)[told] + static_cast<double>(bounds.ending_after(before)[place]) <=
          lower_[1][r])
        continue;
      const Key full = mix(one.full[r], static_cast<Key>(label.label)), coarse = mix(one.coarse[r], group);
      gather(lower_[1][r],
             on + static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse) + bounds.above(full, coarse)));
    }
  }
}

}  // namespace certus::scoring
