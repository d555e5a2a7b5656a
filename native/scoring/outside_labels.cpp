// Labels that are no candidates, one by one: which may be part of a better sequence.
#include <algorithm>

#include "scoring/outside.hpp"

namespace certus::scoring {
namespace {

constexpr double kRounded = 1e-3;  // more than what single precision may lose
constexpr Index kCloseLabels = 4;  // per position that are looked at one by one

}  // namespace

void Outside::score_labels(const Allowed* allowed, const Score& score) {
  const NgramBounds& bounds = *cascade_->bounds;
  places_.resize(bounds.places());
  found_.clear();
  for (Index t = 1; t <= cascade_->length(); ++t) {
    const float* scores = nullptr;
    for (Index g = 0; g + 1 < width_; ++g) {
      const bool suspect = cascade_->rest(t)[g].own != kNever<float> && leads_above(t * width_ + g);
      cascade_->rest(t)[g] = {};
      if (!suspect) continue;
      if (!scores) {
        scores = score(t);
        list_neighbours(t);
      }
      cascade_->score_dropped(t, g, scores, allowed ? allowed[t - 1] : Allowed{}, places_.data());
      find_labels(t, g);
    }
  }
}

void Outside::look_closer() {
  const auto begin = found_.begin();
  std::size_t left = 0;
  Index t = 0, group = -1;
  const bool close = static_cast<Index>(found_.size()) <= kCloseLabels * cascade_->length();
  for (Index i = 1; i <= cascade_->length(); ++i) std::fill_n(cascade_->rest(i), width_ - 1, RestScore{});
  for (Cascade::Taken& label : found_) {
    if (label.position != t) list_neighbours(label.position), group = -1;
    t = label.position;
    if (const Index g = cascade_->bounds->group(label.label); g != group) lead_from_rests(t, group = g);
    if (!is_alive(label, close)) continue;
    begin[static_cast<std::ptrdiff_t>(left++)] = label;
    cascade_->raise_rest(label.position, label.label, label.score);
  }
  found_.resize(left);
}

void Outside::list_neighbours(Index t) {
  list_beside(t - 1, &NgramBounds::ending_after, ending_);
  list_beside(t + 1, &NgramBounds::leaving_to, next_);
}

// Lists what n-grams may add with the candidates of a position.
void Outside::list_beside(Index t, const float* (NgramBounds::*of)(Unit) const, std::vector<const float*>& rows) const {
  const Level& one = cascade_->level(1);
  rows.clear();
  for (std::uint32_t s = one.begin[t]; s < one.begin[t + 1]; ++s) {
    const float* const row = (cascade_->bounds->*of)(cascade_->bounds->group(one.label[s]));
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
}

// The best way from a degenerate label to a coarse tag.
void Outside::lead_from_rests(Index t, Index g) {
  const double* const coarse = cascade_->bounds->coarse(t);
  from_rests_ = kNever<double>;
  for (Index h = 0; h < width_; ++h) raise(from_rests_, followed_[(t - 1) * width_ + h] + coarse[h * width_ + g]);
}

// Finds the labels of a coarse tag that may lead above the limit.
void Outside::find_labels(Index t, Index g) {
  const NgramBounds& bounds = *cascade_->bounds;
  lead_from_rests(t, g);
  const Index j = t * width_ + g;
  const float *const ending = bounds.ending(t), *const around = bounds.around(t);
  const float least = static_cast<float>(limit_ - after_[j] - to_rest_[j] - kRounded),
              least_around = static_cast<float>(limit_ - after_[j] - to_label_[j] - contexts_.excess(t)[g] - kRounded);
  for (Index i = bounds.begin(g); i < bounds.begin(g + 1); ++i) {
    if (!(places_[i] + ending[i] > least) && !(places_[i] + around[i] > least_around)) continue;
    if (bounds.at(i) < 0 || places_[i] == kNever<float> || !(bound_by_tags(t, g, i, places_[i]) > limit_)) continue;
    found_.push_back({t, bounds.at(i), places_[i], -kNever<double>});
    cascade_->raise_rest(t, bounds.at(i), places_[i]);
  }
}

// The largest score of a sequence that has a label that is no candidate, by the coarse tags of its neighbours.
double Outside::bound_by_tags(Index t, Index g, Index place, float score) const {
  const Index j = t * width_ + g;
  const NgramBounds& bounds = *cascade_->bounds;
  const double own = static_cast<double>(score), ending = static_cast<double>(bounds.ending(t)[place]),
               around = static_cast<double>(bounds.around(t)[place]);
  const double to_rest = after_[j] + own + ending + to_rest_[j], on = own + contexts_.excess(t)[g] + to_label_[j];
  if (!(std::max(to_rest, after_[j] + around + on) > limit_)) return kNever<double>;
  float in = 0, out = 0;
  for (const float* row : ending_) in = std::max(in, row[place]);
  for (const float* row : next_) out = std::max(out, row[place]);
  const double between = after_[j] + on + std::min(around, static_cast<double>(in + out));
  return std::max({to_rest, from_rests_ + around + on, between});
}

// The same by its neighbours, if there are not too many to look at.
bool Outside::is_alive(Cascade::Taken& label, bool close) const {
  const NgramBounds& bounds = *cascade_->bounds;
  label.bound = bound_by_tags(label.position, bounds.group(label.label), bounds.place(label.label), label.score);
  if (close && label.bound > limit_)
    label.bound = std::min(label.bound, bound_label(label.position, label.label, label.score));
  return label.bound > limit_;
}

// The largest score of a sequence that has a dropped label, with the n-grams of two labels that it makes with its
// neighbours' candidates.
double Outside::bound_label(Index t, Label y, float score) const {
  const NgramBounds& bounds = *cascade_->bounds;
  const Level& one = cascade_->level(1);
  const Unit group = cascade_->group_of(y), told = bounds.group(y);
  const auto weigh = [&](Key full, Key coarse) {
    return static_cast<double>(ngrams_->at(full) + ngrams_->at(coarse) + bounds.above(full, coarse));
  };
  double before = from_rests_ + static_cast<double>(bounds.ending(t, y));
  for (std::uint32_t s = one.begin[t - 1]; s < one.begin[t]; ++s)
    raise(before,
          reach(t - 1, 1, s, y, kNone) + static_cast<double>(ngrams_->at(mix(one.full[s], static_cast<Key>(y))) +
                                                             ngrams_->at(mix(one.coarse[s], group))));
  double label = kNever<double>;
  const Key full = mix(1, static_cast<Key>(y)), coarse = mix(2, group);
  for (std::uint32_t s = one.begin[t + 1]; s < one.begin[t + 2]; ++s)
    raise(label, weigh(mix(full, static_cast<Key>(one.label[s])), mix(coarse, cascade_->group_of(one.label[s]))) +
                     one.node[s] + onward_[1][s]);
  return before + static_cast<double>(score) + std::max(label + contexts_.excess(t)[told], to_rest_[t * width_ + told]);
}

void Outside::find_alive(std::vector<std::uint8_t>& states, std::vector<Cascade::Taken>& labels) {
  for (Index m = 1; m <= order_; ++m)
    for (std::uint32_t s = 0; s < out_[m].size(); ++s) {
      const bool alive =
          out_[m][s] + onward_[m][s] > limit_ || (m == order_ && (*best_)[s] + leaving_lattice_[s] > limit_);
      if (!alive) continue;
      std::uint32_t q = s;
      for (Index n = m; n > 1; --n) q = cascade_->level(n).cur[q];
      states[q] = 1;
    }
  look_closer();
  labels = found_;
}

void Outside::take_back(Index most, std::vector<Cascade::Taken>& labels) {
  labels.clear();
  std::vector<Cascade::Taken> left;
  for (auto first = found_.begin(), last = first; first != found_.end(); first = last) {
    while (last != found_.end() && last->position == first->position) ++last;
    const auto middle = first + std::min<std::ptrdiff_t>(most, last - first);
    std::partial_sort(first, middle, last,
                      [](const Cascade::Taken& a, const Cascade::Taken& b) { return a.bound > b.bound; });
    labels.insert(labels.end(), first, middle);
    left.insert(left.end(), middle, last);
  }
  for (Index t = 1; t <= cascade_->length(); ++t) std::fill_n(cascade_->rest(t), width_ - 1, RestScore{});
  for (const Cascade::Taken& label : left) cascade_->raise_rest(label.position, label.label, label.score);
}

}  // namespace certus::scoring
