// Weights of sequences of labels while they are learned: see scoring/ngrams.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "scoring/ngrams.hpp"

namespace certus::learn {

using scoring::Key;
using scoring::NgramTable;

// A table of weights, each with the number that averaging or a penalty remembers.
class Ngrams {
 public:
  Ngrams() { resize(1 << 12); }
  void clear() { *this = Ngrams(); }

  NgramTable table() const { return {keys_.data(), weights_.data(), keys_.size() - 1}; }

  struct Entry {
    float *weight, *memory;
    bool is_new = false;
  };
  // The entry of a sequence that has a weight, or nulls.
  Entry find(Key key) {
    const std::size_t i = slot(key);
    return keys_[i] ? Entry{&weights_[i], &memories_[i]} : Entry{nullptr, nullptr};
  }
  Entry entry(Key key) {
    std::size_t i = slot(key);
    const bool is_new = keys_[i] == 0;
    if (is_new) {
      if (2 * (used_ + 1) > keys_.size()) {
        resize(2 * keys_.size());
        i = slot(key);
      }
      keys_[i] = key;
      ++used_;
    }
    return {&weights_[i], &memories_[i], is_new};
  }

  // Calls use(key, weight, memory) for all sequences that have a weight, by key: where keys lie depends on the order in
  // which they came, which a resumed run does not know.
  template <class Use>
  void each(const Use& use) const {
    std::vector<std::size_t> slots;
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (keys_[i] != 0) slots.push_back(i);
    std::sort(slots.begin(), slots.end(), [this](std::size_t i, std::size_t j) { return keys_[i] < keys_[j]; });
    for (const std::size_t i : slots) use(keys_[i], weights_[i], memories_[i]);
  }

  const std::vector<Key>& keys() const { return keys_; }
  const std::vector<float>& weights() const { return weights_; }

 private:
  std::size_t slot(Key key) const {
    return find_slot(key, keys_.size() - 1, [&](std::size_t i) { return keys_[i] == key || keys_[i] == 0; });
  }
  void resize(std::size_t size) {
    std::vector<Key> keys(size, 0);
    std::vector<float> weights(size, 0), memories(size, 0);
    keys.swap(keys_);
    weights.swap(weights_);
    memories.swap(memories_);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      if (keys[n] == 0) continue;
      const std::size_t i = slot(keys[n]);
      keys_[i] = keys[n], weights_[i] = weights[n], memories_[i] = memories[n];
    }
  }

  std::vector<Key> keys_;
  std::vector<float> weights_, memories_;
  std::size_t used_ = 0;
};

}  // namespace certus::learn
