// Sequences of target words that no translation may hold: an automaton that has read the words so far (Aho & Corasick
// 1975), and dies where one of them is complete.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "translate/vocabulary.hpp"

namespace certus::translate {

class ForbiddenTerms {
 public:
  ForbiddenTerms() = default;
  explicit ForbiddenTerms(const std::vector<std::vector<Word>>& terms);

  bool empty() const { return failure_.size() <= 1; }
  // The state after some words, or -1 where a term is complete. State 0 has read nothing that matters.
  std::int32_t read(std::int32_t state, std::span<const Word> words) const;

 private:
  static std::uint64_t join(std::int32_t state, Word word) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(state)) << 32 | word;
  }
  std::int32_t find(std::int32_t state, Word word) const {
    const auto found = next_.find(join(state, word));
    return found == next_.end() ? -1 : found->second;
  }

  std::unordered_map<std::uint64_t, std::int32_t> next_;
  std::vector<std::int32_t> failure_{0};
  std::vector<char> complete_{0};
};

}  // namespace certus::translate
