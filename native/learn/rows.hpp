// The weights of (feature, unit) pairs while they are learned. Most pairs never get one: a row lists those that do, in
// the order in which they got it. The few rows that come to list a good part of all units get a place for each instead,
// which is faster to add up and to find a unit in.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "learn/corpus.hpp"
#include "scoring/tagset.hpp"

namespace certus::learn {

using scoring::Tagset;
using scoring::Unit;

// Learning needs one number per weight besides the weight itself: what averaging or a penalty has to remember.
class Rows {
 public:
  static constexpr Unit kNone = ~Unit{0};

  struct Row {
    // [capacity] units, then weights, then memories; if dense, a unit is itself or, without a weight, kNone.
    Unit* unit = nullptr;
    std::uint32_t size = 0, capacity = 0;
    bool dense = false;
    float* weight() const { return reinterpret_cast<float*>(unit + capacity); }
    float* memory() const { return reinterpret_cast<float*>(unit + 2 * std::size_t{capacity}); }
  };

  Rows(Index features, Index units) : rows_(features), units_(static_cast<std::uint32_t>(units)) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void clear() {
    std::fill(rows_.begin(), rows_.end(), Row{});
    for (std::vector<Unit*>& spare : free_) spare.clear();
    blocks_.clear();
    next_ = nullptr;
    left_ = 0;
  }

  Index features() const { return static_cast<Index>(rows_.size()); }
  const Row& row(Feature f) const { return rows_[f]; }
  void prefetch(Feature f) const { __builtin_prefetch(rows_[f].unit); }

  // Adds the weights of a row to the scores of units.
  void score(Feature f, float* scores) const {
    const Row& r = rows_[f];
    const float* w = r.weight();
    if (r.dense) return add(w, scores, units_);
    for (std::uint32_t i = 0; i < r.size; ++i) scores[r.unit[i]] += w[i];
  }

  // Writes the scores of the units at a token, while the rows of the next one, unless it is `end`, are asked for.
  void score_token(const Corpus& corpus, Index token, Index end, std::vector<float>& scores) const {
    const Feature* const features = corpus.features.data();
    if (token + 1 < end)
      for (Index i = corpus.token[token + 1]; i < corpus.token[token + 2]; ++i) prefetch(features[i]);
    std::fill(scores.begin(), scores.end(), 0.0f);
    for (Index i = corpus.token[token]; i < corpus.token[token + 1]; ++i) score(features[i], scores.data());
  }

  // Calls use(unit, weight, memory) for all units that have a weight.
  template <class Use>
  void each(Feature f, const Use& use) const {
    const Row& r = rows_[f];
    for (std::uint32_t i = 0, end = r.dense ? r.capacity : r.size; i < end; ++i)
      if (r.unit[i] != kNone) use(r.unit[i], r.weight()[i], r.memory()[i]);
  }

  // A new weight; the pair must not have one.
  void append(Feature f, Unit unit, float weight, float memory) {
    Row& r = rows_[f];
    if (r.size == r.capacity && !r.dense) grow(r);
    const std::uint32_t i = r.dense ? unit : r.size;
    r.unit[i] = unit;
    r.weight()[i] = weight;
    r.memory()[i] = memory;
    ++r.size;
  }

 private:
  static void add(const float* weights, float* scores, Index n);

  // Rows that were outgrown are reused for others of their size.
  void grow(Row& r) {
    Row bigger;
    bigger.capacity = r.capacity ? 2 * r.capacity : 2;
    bigger.size = r.size;
    bigger.dense = 2 * bigger.capacity > units_;
    if (bigger.dense) {
      spread(r, bigger);
    } else {
      bigger.unit = take(bigger.capacity);
      std::copy_n(r.unit, r.size, bigger.unit);
      std::copy_n(r.weight(), r.size, bigger.weight());
      std::copy_n(r.memory(), r.size, bigger.memory());
    }
    if (r.capacity) free_[size_class(r.capacity)].push_back(r.unit);
    r = bigger;
  }
  void spread(const Row& r, Row& bigger) {
    bigger.capacity = units_;
    bigger.unit = cut(3 * std::size_t{units_});
    std::fill_n(bigger.unit, units_, kNone);
    std::fill_n(bigger.weight(), 2 * std::size_t{units_}, 0.0f);
    for (std::uint32_t i = 0; i < r.size; ++i) {
      bigger.unit[r.unit[i]] = r.unit[i];
      bigger.weight()[r.unit[i]] = r.weight()[i];
      bigger.memory()[r.unit[i]] = r.memory()[i];
    }
  }
  static int size_class(std::uint32_t capacity) { return __builtin_ctz(capacity); }
  Unit* take(std::uint32_t capacity) {
    std::vector<Unit*>& spare = free_[size_class(capacity)];
    if (spare.empty()) return cut(3 * std::size_t{capacity});
    Unit* const p = spare.back();
    spare.pop_back();
    return p;
  }
  Unit* cut(std::size_t words) {
    if (words > left_) {
      const std::size_t size = std::max(words, kBlock);
      blocks_.emplace_back(new Unit[size]);
      next_ = blocks_.back().get();
      left_ = size;
    }
    Unit* const p = next_;
    next_ += words;
    left_ -= words;
    return p;
  }

  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::vector<Row> rows_;
  std::uint32_t units_;
  std::vector<Unit*> free_[32];
  std::vector<std::unique_ptr<Unit[]>> blocks_;
  Unit* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace certus::learn
