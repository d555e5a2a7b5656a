// The weights of (feature, unit) pairs while they are learned. Most pairs never get one: a row lists those that do.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "learn/corpus.hpp"
#include "learn/tagset.hpp"

namespace certus::learn {

// Learning needs one number a weight besides the weight itself: what averaging or a penalty has to remember.
class Rows {
 public:
  struct Row {
    std::uint32_t* unit = nullptr;  // [capacity] units, then weights, then the memories
    std::uint32_t size = 0, capacity = 0;
    float* weight() const { return reinterpret_cast<float*>(unit + capacity); }
    float* memory() const { return reinterpret_cast<float*>(unit + 2 * capacity); }
  };

  explicit Rows(Index features) : rows_(features) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void clear() {
    std::fill(rows_.begin(), rows_.end(), Row{});
    for (std::vector<std::uint32_t*>& spare : free_) spare.clear();
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
    for (std::uint32_t i = 0; i < r.size; ++i) scores[r.unit[i]] += w[i];
  }

  // A new weight; the pair must not have one.
  void append(Feature f, Unit unit, float weight, float memory) {
    Row& r = rows_[f];
    if (r.size == r.capacity) grow(r);
    r.unit[r.size] = unit;
    r.weight()[r.size] = weight;
    r.memory()[r.size] = memory;
    ++r.size;
  }

  std::uint32_t find(Feature f, Unit unit) const {
    const Row& r = rows_[f];
    return static_cast<std::uint32_t>(std::find(r.unit, r.unit + r.size, unit) - r.unit);
  }

  Index entries() const {
    Index sum = 0;
    for (const Row& r : rows_) sum += r.size;
    return sum;
  }

 private:
  // Rows that were outgrown are reused for others of their size.
  void grow(Row& r) {
    Row bigger;
    bigger.capacity = r.capacity ? 2 * r.capacity : 2;
    bigger.size = r.size;
    bigger.unit = take(bigger.capacity);
    std::copy_n(r.unit, r.size, bigger.unit);
    std::copy_n(r.weight(), r.size, bigger.weight());
    std::copy_n(r.memory(), r.size, bigger.memory());
    if (r.capacity) free_[size_class(r.capacity)].push_back(r.unit);
    r = bigger;
  }
  static int size_class(std::uint32_t capacity) { return __builtin_ctz(capacity); }
  std::uint32_t* take(std::uint32_t capacity) {
    std::vector<std::uint32_t*>& spare = free_[size_class(capacity)];
    if (!spare.empty()) {
      std::uint32_t* const p = spare.back();
      spare.pop_back();
      return p;
    }
    const std::size_t words = 3 * std::size_t{capacity};
    if (words > left_) {
      const std::size_t size = std::max(words, kBlock);
      blocks_.emplace_back(new std::uint32_t[size]);
      next_ = blocks_.back().get();
      left_ = size;
    }
    std::uint32_t* const p = next_;
    next_ += words;
    left_ -= words;
    return p;
  }

  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::vector<Row> rows_;
  std::vector<std::uint32_t*> free_[32];
  std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
  std::uint32_t* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace certus::learn
