// Sequences of words as numbers.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/probing.hpp"
#include "translate/vocabulary.hpp"

namespace certus::translate {

class PhrasePool {
 public:
  PhrasePool() : slots_(1 << 16, 0) {}

  std::uint32_t add(std::span<const Word> words) {
    hashing::Key key = words.size();
    for (const Word word : words) key = hashing::mix(key, word);
    const std::size_t slot = find_slot(key, slots_.size() - 1, [&](std::size_t i) {
      return slots_[i] == 0 || (keys_[slots_[i] - 1] == key && is_same(slots_[i] - 1, words));
    });
    if (slots_[slot] != 0) return slots_[slot] - 1;
    words_.insert(words_.end(), words.begin(), words.end());
    first_.push_back(words_.size());
    keys_.push_back(key);
    slots_[slot] = static_cast<std::uint32_t>(keys_.size());
    if (2 * keys_.size() > slots_.size()) grow();
    return static_cast<std::uint32_t>(keys_.size() - 1);
  }
  std::span<const Word> list(std::uint32_t phrase) const {
    return {words_.data() + first_[phrase], first_[phrase + 1] - first_[phrase]};
  }
  std::size_t size() const { return keys_.size(); }

 private:
  bool is_same(std::uint32_t phrase, std::span<const Word> words) const {
    const auto known = list(phrase);
    return std::equal(known.begin(), known.end(), words.begin(), words.end());
  }
  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t n = 0; n < keys_.size(); ++n)
      slots_[find_slot(keys_[n], slots_.size() - 1, [&](std::size_t i) { return slots_[i] == 0; })] =
          static_cast<std::uint32_t>(n + 1);
  }

  std::vector<std::uint32_t> slots_;
  std::vector<Word> words_;
  std::vector<std::size_t> first_{0};
  std::vector<hashing::Key> keys_;
};

}  // namespace certus::translate
