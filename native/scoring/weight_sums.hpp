// Sums of the weights of features, where tables of weights are larger than caches: the features of a few parts are
// found, and their weights asked for, before those of the first are added up.
#pragma once

#include <type_traits>

#include "features/arc_keys.hpp"

namespace certus::scoring {

// Weights in training are floats; in a model they are whole multiples of a step, so that sums are exact.
template <class W>
using WeightSum = std::conditional_t<std::is_integral_v<W>, std::int32_t, W>;

template <class W>
WeightSum<W> add_weights(const W* weights, const features::PlaceList& places) {
  WeightSum<W> sum = 0;
  for (const features::Place place : places) sum += weights[place];
  return sum;
}

template <class W>
void prefetch_weights(const W* weights, const features::PlaceList& places) {
  for (const features::Place place : places) __builtin_prefetch(weights + place);
}

// Keeps the memory of what it finds; for one table at a time.
class AwaitedSums {
 public:
  // find(places) finds the features of a part; its score is written some parts later, or by settle().
  template <class W, class Find>
  void ask(const W* weights, double* score, const Find& find) {
    Awaited& each = awaited_[asked_ % kAhead];
    if (asked_ - answered_ == kAhead) answer(weights);
    each.places.clear();
    find(each.places);
    prefetch_weights(weights, each.places.bare);
    each.score = score;
    ++asked_;
  }

  template <class W>
  void settle(const W* weights) {
    while (answered_ < asked_) answer(weights);
    asked_ = answered_ = 0;
  }

 private:
  // A part whose features were found, and whose weights are on their way from memory.
  struct Awaited {
    features::Places places;
    double* score = nullptr;
  };
  static constexpr std::size_t kAhead = 12;  // parts that are awaited at the same time

  template <class W>
  void answer(const W* weights) {
    const Awaited& each = awaited_[answered_++ % kAhead];
    *each.score = static_cast<double>(add_weights(weights, each.places.bare));
  }

  Awaited awaited_[kAhead];
  std::size_t asked_ = 0, answered_ = 0;
};

}  // namespace certus::scoring
